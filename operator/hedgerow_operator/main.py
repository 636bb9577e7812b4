"""``hedgerow-operator``: the command line of the operator process."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import uuid
from pathlib import Path
from typing import Any

import click

from hedgerow_operator.reconcile.exporters import PORT, SCRAPE_SECONDS, SELECTOR, ExporterRules

POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def _own_namespace() -> str:
    return POD_NAMESPACE.read_text().strip() if POD_NAMESPACE.is_file() else "default"


@click.command(context_settings={"auto_envvar_prefix": "HEDGEROW_OPERATOR", "show_default": True})
@click.version_option(package_name="hedgerow")
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Watch this namespace only; may be repeated. Without it: the whole cluster.",
)
@click.option("--report-url", required=True, help="Where the workers' pods reach this operator's report server.")
@click.option("--inject-image", required=True, help="Image of the init container that brings the launcher.")
@click.option(
    "--inject-pull-policy",
    type=click.Choice(["Always", "IfNotPresent", "Never"]),
    default="IfNotPresent",
    help="imagePullPolicy of the init container.",
)
@click.option("--inject-cpu", default="50m", help="CPU of the init container, request and limit.")
@click.option("--inject-memory", default="64Mi", help="Memory of the init container, request and limit.")
@click.option("--inject-ephemeral-storage", default="", help="Ephemeral storage of the init container. Empty: none.")
@click.option("--listen-host", default="", help="Address to listen on. Empty: every one, IPv4 and IPv6.")
@click.option("--listen-port", type=click.IntRange(1, 65535), default=8080, help="Port to listen on.")
@click.option("--lease-namespace", default=None, help="Namespace of the Lease.  [default: the operator's own]")
@click.option("--lease-name", default="hedgerow-operator", help="Name of the Lease by which one operator leads.")
@click.option(
    "--agent-service-account",
    default="",
    help="NAMESPACE/NAME of the node agents' service account. Empty: no reports of agents are taken.",
)
@click.option(
    "--dcgm-exporter-namespace",
    default="",
    help="Namespace of dcgm-exporters to ask in place of node agents. Empty: none are asked.",
)
@click.option("--dcgm-exporter-selector", default=SELECTOR, help="Labels of their pods.")
@click.option("--dcgm-exporter-port", type=click.IntRange(1, 65535), default=PORT, help="Their port.")
@click.option(
    "--dcgm-exporter-scrape-seconds",
    type=click.FloatRange(1, 300),
    default=SCRAPE_SECONDS,
    help="How often each of them is asked.",
)
@click.option(
    "--agent-silent-seconds",
    type=click.IntRange(10, 3600),
    default=30,
    help="Without a report of its agent from then on a node is not measured.",
)
@click.option(
    "--quarantine-seconds",
    type=click.IntRange(0, 604800),
    default=600,
    help="How long new attempts avoid a node after its fatal fault was last seen.",
)
@click.option(
    "--node-action",
    type=click.Choice(["None", "Taint"]),
    default="None",
    help="Taint: quarantined nodes are tainted (hedgerow.dev/quarantined), also for what is not ours.",
)
@click.option(
    "--node-action-max-percent",
    type=click.IntRange(1, 100),
    default=10,
    help="Share of the nodes with agents that are tainted at a time; one always may be.",
)
@click.option(
    "--node-action-expiry-seconds",
    type=click.IntRange(60, 30 * 86400),
    default=86400,
    help="A taint is taken off after so long, whatever the node is like.",
)
@click.option(
    "--slurm/--no-slurm",
    default=False,
    help="Look at SlurmClusters and run jobs on them; needs the right to get the Secrets that they name.",
)
@click.option(
    "--gateway-service-account",
    default="",
    help="NAMESPACE/NAME of the gateways' service account. Empty: InferenceEndpoints are not looked at.",
)
@click.option("--gateway-url", default="", help="Where clients reach the gateways; status.url begins with it.")
@click.option(
    "--log-level", type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"]), default="INFO", help="What to log."
)
def main(**options: Any) -> None:
    """Run the operator: watch TrainingJobs, bring back those that stall. The API server is found as kubectl does."""
    # Only here: these imports take half a second, which --help need not wait for.
    from hedgerow_operator import logs, process
    from hedgerow_operator.adapters.kube.connection import NotConfigured
    from hedgerow_operator.settings import BadSettings, check

    settings = _settings(options)
    logs.set_up(settings.log_level)
    try:
        check(settings)
        sys.exit(asyncio.run(process.operate(settings)))
    except (BadSettings, NotConfigured) as error:
        raise click.UsageError(str(error)) from None


def _settings(options: dict[str, Any]) -> Any:
    from hedgerow_operator.build.injection import Injection
    from hedgerow_operator.core.nodes.seen import NodeRules
    from hedgerow_operator.core.nodes.taints import TaintRules
    from hedgerow_operator.settings import Settings

    injection = Injection(
        image=options["inject_image"],
        report_url=options["report_url"].rstrip("/"),
        pull_policy=options["inject_pull_policy"],
        cpu=options["inject_cpu"],
        memory=options["inject_memory"],
        ephemeral_storage=options["inject_ephemeral_storage"],
    )
    return Settings(
        namespaces=tuple(options["namespaces"]),
        home=options["lease_namespace"] or _own_namespace(),
        lease=options["lease_name"],
        identity=f"{os.environ.get('HOSTNAME') or socket.gethostname()}_{uuid.uuid4().hex[:8]}",
        listen_host=options["listen_host"],
        listen_port=options["listen_port"],
        injection=injection,
        log_level=options["log_level"],
        agent_account=options["agent_service_account"],
        slurm=options["slurm"],
        gateway_account=options["gateway_service_account"],
        gateway_url=options["gateway_url"],
        exporters=ExporterRules(
            namespace=options["dcgm_exporter_namespace"],
            selector=options["dcgm_exporter_selector"],
            port=options["dcgm_exporter_port"],
            scrape_seconds=options["dcgm_exporter_scrape_seconds"],
        )
        if options["dcgm_exporter_namespace"]
        else None,
        node_rules=NodeRules(
            silent_seconds=float(options["agent_silent_seconds"]),
            quarantine_seconds=float(options["quarantine_seconds"]),
        ),
        taint_rules=TaintRules(
            max_percent=options["node_action_max_percent"],
            expiry_seconds=float(options["node_action_expiry_seconds"]),
        )
        if options["node_action"] == "Taint"
        else None,
    )


if __name__ == "__main__":
    main()

"""What the operator process is told at its start."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from msgspec import Struct

from hedgerow_operator.build.injection import Injection
from hedgerow_operator.core.nodes.seen import NodeRules
from hedgerow_operator.core.nodes.taints import TaintRules
from hedgerow_operator.reconcile.exporters import ExporterRules


class BadSettings(Exception):
    """A setting cannot be used; the message is one sentence that says which, why, and what to write instead."""


class Settings(Struct, frozen=True, kw_only=True):
    """namespaces: those to watch; empty: all. home: the namespace of the Lease. identity: unique to this process.

    agent_account: namespace/name of the node agents' service account; empty: reports of agents are refused.
    exporters: the dcgm-exporters that stand in for agents; None: there are none.
    slurm: whether SlurmClusters are looked at, and jobs run on them.
    gateway_account: namespace/name of the gateways' service account; empty: endpoints are not looked at. gateway_url:
    where clients reach them.
    node_rules: the times that GPUNodes go by. taint_rules: how quarantined nodes are tainted; None: they are not."""

    namespaces: tuple[str, ...]
    home: str
    lease: str
    identity: str
    listen_host: str
    listen_port: int
    injection: Injection
    log_level: str
    agent_account: str = ""
    exporters: ExporterRules | None = None
    node_rules: NodeRules = NodeRules()
    taint_rules: TaintRules | None = None
    slurm: bool = False
    gateway_account: str = ""
    gateway_url: str = ""

    @property
    def hears_nodes(self) -> bool:
        """Whether anybody tells of the nodes' GPUs."""
        return bool(self.agent_account or self.exporters or self.slurm)


def check(settings: Settings) -> None:
    """Raises BadSettings."""
    url = urlsplit(settings.injection.report_url)
    if url.scheme not in ("http", "https") or not url.hostname or url.path not in ("", "/"):
        raise BadSettings(
            f"--report-url: {settings.injection.report_url!r} is not the address of a server; "
            "write the one at which pods reach this operator, such as http://hedgerow.hedgerow-system.svc:8080"
        )
    if not settings.injection.image:
        raise BadSettings(
            "--inject-image: is empty; write the operator's own image, such as example.org/hedgerow:0.1.0"
        )
    if settings.taint_rules and not (settings.agent_account or settings.exporters):
        raise BadSettings(
            "--node-action: Taint is about nodes whose agents report, and none are believed; "
            "write --agent-service-account or --dcgm-exporter-namespace too, or --node-action=None"
        )
    if settings.agent_account and settings.exporters:
        raise BadSettings(
            "--dcgm-exporter-namespace: dcgm-exporters stand in for node agents, and agents are believed too; "
            "leave out one of --dcgm-exporter-namespace and --agent-service-account"
        )
    accounts = (("agent", settings.agent_account), ("gateway", settings.gateway_account))
    for who, account in accounts:
        if account and not re.fullmatch(r"[a-z0-9-]+/[a-z0-9.-]+", account):
            raise BadSettings(
                f"--{who}-service-account: {account!r} is no service account; "
                f"write its namespace and name, such as hedgerow-system/hedgerow-{who}"
            )
    if settings.gateway_account and not re.fullmatch(r"https?://[^/]+/?", settings.gateway_url):
        raise BadSettings(
            f"--gateway-url: {settings.gateway_url!r} is not the address of a server; write where clients reach the "
            "gateways, such as http://hedgerow-gateway.hedgerow-system.svc"
        )

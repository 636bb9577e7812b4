"""``hedgerow-gateway``: the command line of the gateway's process."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import socket
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hedgerow_operator.gateway.secret_files import SecretSource


class _Address(click.ParamType):  # type: ignore[type-arg]
    """HOST:PORT, as (host, port)."""

    name = "host:port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, _, port = str(value).rpartition(":")
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            self.fail(f"{value!r} is no address; write HOST:PORT, as 127.0.0.1:8080, or :8080 for all addresses", param)
        return host.strip("[]"), int(port)


@click.command(context_settings={"auto_envvar_prefix": "HEDGEROW_GATEWAY", "show_default": True})
@click.version_option(package_name="hedgerow")
@click.option(
    "--config",
    type=click.Path(exists=True, path_type=Path),
    default=None,
    help="Folder or file of InferenceEndpoint and ServerlessProvider manifests.  [default: those of the cluster]",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    help="Without --config: serve endpoints of this namespace only; may be repeated. Without it: of the whole cluster.",
)
@click.option("--operator-url", default="", help="Where the operator's report server is. Empty: it is told nothing.")
@click.option(
    "--operator-token",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("/var/run/secrets/hedgerow/token"),
    help="File of the token that the operator is shown.",
)
@click.option(
    "--secrets",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=None,
    help="Folder of Secrets, as NAME/KEY.  [default: variables HEDGEROW_SECRET_NAME_KEY]",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder of the journal of attempts and spending.  [default: none; nothing outlives the process]",
)
@click.option("--bind", type=_Address(), default="127.0.0.1:8080", help="Where clients ask.")
@click.option(
    "--ops-bind", type=_Address(), default="127.0.0.1:8081", help="Where /healthz, /readyz, /metrics and /receipts are."
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 86400),
    default=60.0,
    help="Seconds for requests that run when it is told to end.",
)
@click.option(
    "--leave",
    type=click.FloatRange(0, 600),
    default=0.0,
    help="Seconds before that in which it still takes requests, though it is not ready any more.",
)
@click.option("--replica", type=click.IntRange(0, 9999), default=0, help="The number of this one, of several.")
@click.option("--replicas", default="", help="Addresses of all of them, in order: http://HOST:PORT,…")
@click.option(
    "--allow-network",
    "allowed",
    multiple=True,
    help="CIDR that may be asked although it is this machine or link-local; may be repeated.",
)
@click.option(
    "--log-level", type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"]), default="INFO", help="What to log."
)
def main(**options: Any) -> None:
    """Serve inference endpoints: each request goes to the providers of its endpoint, hedged as its manifest says."""
    from hedgerow_operator.gateway.journal_file import JournalInUseError
    from hedgerow_operator.gateway.process import serve

    logging.basicConfig(level=options["log_level"], format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            if options["config"] is None:
                runner.run(_serve_cluster(options))
                return
            from hedgerow_operator.gateway.directory import follow_directory

            path = options["config"]
            runner.run(serve(_process(options), lambda service: follow_directory(service, path)))
    except (JournalInUseError, sqlite3.Error, ValueError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'the address'}: {error.strerror}") from None


async def _serve_cluster(options: dict[str, Any]) -> None:
    """Endpoints of the cluster that kubectl would ask, or of the one that this pod runs in."""
    try:
        from hedgerow_operator.adapters.kube.connection import NotConfigured, load_configuration, make_client
    except ImportError:
        raise click.UsageError(
            "without --config endpoints are watched on Kubernetes, which needs its client; install it with: "
            "pip install 'hedgerow[gateway,operator]'"
        ) from None
    from hedgerow_operator.adapters.kube.api import Api
    from hedgerow_operator.gateway.cluster import ClusterSecrets, ClusterSource, follow_cluster
    from hedgerow_operator.gateway.operator_link import OperatorLink
    from hedgerow_operator.gateway.process import serve

    try:
        client = make_client(await load_configuration())
    except NotConfigured as error:
        raise click.UsageError(f"{error}; or write --config DIR") from None
    api, link = Api(client), None
    if options["operator_url"]:
        link = OperatorLink(
            url=options["operator_url"].rstrip("/"),
            token=options["operator_token"],
            gateway=os.environ.get("HOSTNAME") or socket.gethostname(),
            leases="," in options["replicas"],
        )
    source = ClusterSource(api=api, namespaces=tuple(options["namespaces"]), link=link)
    process = _process(options, ClusterSecrets(api))
    try:
        await serve(process, lambda service: follow_cluster(service, source))
    finally:
        await client.close()  # type: ignore[no-untyped-call]


def _process(options: dict[str, Any], secrets: SecretSource | None = None) -> Any:
    from hedgerow_operator.gateway.peers import Replica
    from hedgerow_operator.gateway.process import Process
    from hedgerow_operator.gateway.secret_files import LocalSecrets
    from hedgerow_operator.gateway.service import Options

    addresses = tuple(one.strip() for one in options["replicas"].split(",") if one.strip())
    if addresses and options["replica"] >= len(addresses):
        raise click.UsageError(f"--replica {options['replica']} is none of the {len(addresses)} --replicas")
    return Process(
        options=Options(
            journal=_journal(options["state"]),
            secrets=secrets or LocalSecrets(options["secrets"]),
            share=secrets is not None and "," in options["replicas"],
            own=Replica(number=options["replica"], addresses=addresses),
            allowed_networks=tuple(options["allowed"]),
        ),
        listener=_listening(*options["bind"]),
        ops=_listening(*options["ops_bind"]),
        grace=options["grace"],
        leave=options["leave"],
    )


def _journal(state: Path | None) -> Path | None:
    if state is None:
        return None
    from hedgerow_operator.adapters.local.paths import StatePaths

    state.mkdir(parents=True, exist_ok=True)
    return StatePaths(state).journal


def _listening(host: str, port: int) -> socket.socket:
    from hedgerow_operator.server.listening import listen

    return listen(host, port)


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: half of the time of a request is the loop's."""
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop()
    make: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make()

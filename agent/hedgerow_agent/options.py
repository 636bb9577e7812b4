"""Settings of the agent: flags, and an environment variable for each."""

import argparse
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.gpu_faults import HOLD_SECONDS
from hedgerow.wire_agent import CALM_SECONDS

_PREFIX = "HEDGEROW_AGENT_"


@dataclass(frozen=True)
class Options:
    """What the agent is to do. Times are seconds."""

    node: str
    devices: str = "nvml"
    kernel_log: str = "auto"
    report_url: str = ""
    address_file: str = ""
    token_file: str = ""
    ca_file: str = ""
    metrics_address: str = ""
    checkpoint_paths: tuple[str, ...] = ()
    host_root: str = ""
    sample_seconds: float = 1.0
    report_seconds: float = CALM_SECONDS
    hold_seconds: float = HOLD_SECONDS
    once: bool = False
    output: str = "text"


def parse(words: Sequence[str]) -> Options:
    """Options of a command line; argparse prints what is wrong and exits with 2."""
    parser = argparse.ArgumentParser(
        prog="hedgerow-agent",
        description="Tells Hedgerow what this node's GPUs, kernel log and machine say.",
        epilog="Each option may be given as an environment variable: --report-url is HEDGEROW_AGENT_REPORT_URL.",
    )
    given = _from_environment
    add = parser.add_argument
    add(
        "--node",
        default=given("node", _own_name()),
        help="name of this node, as the cluster calls it (default: Slurm's in a prolog, else the host's short one)",
    )
    add("--devices", default=given("devices", "nvml"), help="nvml, or fake:FILE.yaml (default: nvml)")
    add(
        "--kernel-log",
        default=given("kernel_log", "auto"),
        help="where Xids are read: auto, kmsg, journal, file:PATH or none (default: auto, which is /dev/kmsg)",
    )
    add("--report-url", default=given("report_url", ""), help="address of the operator, http://HOST:PORT")
    add(
        "--address-file",
        default=given("address_file", ""),
        help="file with that address, read each time: STATE/address of hedgerow local",
    )
    add("--token-file", default=given("token_file", ""), help="file with the token to show there, read each time")
    add("--ca-file", default=given("ca_file", ""), help="certificates to believe the operator's by")
    add(
        "--metrics-address",
        default=given("metrics_address", ""),
        help="HOST:PORT to serve /metrics at; without HOST at every address",
    )
    add(
        "--checkpoint-path",
        action="append",
        dest="checkpoint_paths",
        help="a folder whose disk is watched; may be given again",
    )
    add("--host-root", default=given("host_root", ""), help="where /proc and /sys of the host are, if not here")
    add("--sample-seconds", type=_seconds, default=given("sample_seconds", "1"), help="from look to look (default: 1)")
    add(
        "--report-seconds",
        type=_seconds,
        default=given("report_seconds", str(CALM_SECONDS)),
        help="from report to report in calm, until the operator asks for another interval (default: 5)",
    )
    add(
        "--hold-seconds",
        type=_seconds,
        default=given("hold_seconds", str(HOLD_SECONDS)),
        help="how long an Xid counts against a GPU when nothing takes it back (default: 3600)",
    )
    add("--once", action="store_true", help="look once, print a report, and end")
    add("-o", "--output", choices=("text", "json"), default="text", help="how --once prints (default: text)")
    found = vars(parser.parse_args(words))
    paths = found["checkpoint_paths"] or [path for path in given("checkpoint_path", "").split(":") if path]
    found["checkpoint_paths"] = tuple(paths)
    found["host_root"] = found["host_root"].rstrip("/")
    if not (found["devices"] == "nvml" or found["devices"].startswith("fake:")):
        parser.error(f"--devices is {found['devices']!r}; expected nvml or fake:FILE.yaml")
    if found["report_url"] and found["address_file"]:
        parser.error("--report-url and --address-file both say where the operator is; leave one out")
    return Options(**found)


def _own_name() -> str:
    given = os.environ.get("HEDGEROW_NODE", "") or os.environ.get("SLURMD_NODENAME", "")
    return given or socket.gethostname().partition(".")[0]


def _from_environment(name: str, default: str) -> str:
    return os.environ.get(_PREFIX + name.upper(), default)


def _seconds(word: str) -> float:
    try:
        found = float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of seconds") from None
    if not 0.05 <= found <= 86400:
        raise argparse.ArgumentTypeError(f"{word} is out of range: from 0.05 to 86400 seconds")
    return found

"""Every kind of driver that the contract holds for, each by its name, and what it cannot do."""

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.pyslurm.driver import PySlurmDriver
from hedgerow_operator.adapters.slurm.pyslurm.process import PySlurmProcess
from hedgerow_operator.adapters.slurm.rest.connection import Connection
from hedgerow_operator.adapters.slurm.rest.driver import RESTDriver
from hedgerow_operator.adapters.slurm.rest.token import KeptToken
from hedgerow_operator.core.slurm.seen import Submission
from tests.slurm.drivers import by_pyslurm
from tests.slurm.testbed.testbed import Testbed

# A Slurm that was built without JSON.
REFUSES_JSON = """#!/bin/sh
case "$*" in *--json*) echo "$0: unrecognized option '--json'" >&2; exit 1;; esac
PATH=${PATH#*:} exec "${0##*/}" "$@"
"""


def by_cli(testbed: Testbed, folder: Path) -> Driver:
    """By commands with JSON."""
    return CliDriver(testbed.environment)


def by_cli_text(testbed: Testbed, folder: Path) -> Driver:
    """By commands that know no JSON."""
    programs = folder / "without-json"
    programs.mkdir(exist_ok=True)
    for name in ("squeue", "sinfo", "scontrol"):
        (programs / name).write_text(REFUSES_JSON)
        (programs / name).chmod(0o755)
    return CliDriver({**testbed.environment, "PATH": f"{programs}:{testbed.environment['PATH']}"})


def by_rest_with_one_token(testbed: Testbed, folder: Path) -> Driver:
    """By slurmrestd with a token that is made now: none can be made while the controller is away."""
    token = testbed.token()

    async def source() -> str:
        return token

    return RESTDriver(Connection(testbed.rest_url, "root", KeptToken(source, time.time)), "root")


KINDS: dict[str, Callable[[Testbed, Path], Driver]] = {
    "CLI": by_cli,
    "CLI without JSON": by_cli_text,
    "REST": by_rest_with_one_token,
    "PySlurm 22.5": lambda testbed, folder: by_pyslurm(testbed, "line_22_5", folder),
    "PySlurm 25.11": lambda testbed, folder: by_pyslurm(testbed, "line_25_11", folder),
}
if importlib.util.find_spec("pyslurm") is not None:
    KINDS["PySlurm as installed"] = lambda testbed, folder: PySlurmDriver(PySlurmProcess(testbed.environment), "root")
# slurmrestd 22.05 has neither.
WITHOUT_REQUEUE_AND_DRAIN = {"REST"}
# squeue prints excluded nodes in JSON only, or without half of the rest.
WITHOUT_EXCLUDED = {"CLI without JSON"}


def submission(
    testbed: Testbed, comment: str = "hedgerow:uid:1", script: str = "srun sleep 1000", **options: str
) -> Submission:
    """Two nodes that sleep, unless told otherwise. options: their dashes as underscores."""
    return Submission(
        name="contract",
        comment=comment,
        script=f"#!/bin/sh\n{script}\n",
        options={
            "nodes": "2",
            "output": "/dev/null",
            **{name.replace("_", "-"): value for name, value in options.items()},
        },
        directory=str(testbed.jobs),
    )

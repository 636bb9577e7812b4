"""The drivers as tests make them, for one testbed."""

import time
from pathlib import Path

from hedgerow_operator.adapters.slurm.pyslurm.driver import PySlurmDriver
from hedgerow_operator.adapters.slurm.pyslurm.process import PySlurmProcess
from hedgerow_operator.adapters.slurm.rest.connection import Connection
from hedgerow_operator.adapters.slurm.rest.driver import RESTDriver
from hedgerow_operator.adapters.slurm.rest.token import KeptToken
from tests.slurm.testbed.testbed import Testbed

ROOT = Path(__file__).parents[2]
# What Debian's Slurm would have to be for the newer line to fit it.
SAYS_25_11 = """#!/bin/sh
[ "$1" = --version ] && exec echo slurm 25.11.2
PATH=${PATH#*:} exec scontrol "$@"
"""


def by_rest(testbed: Testbed, user: str = "root") -> RESTDriver:
    """Over TCP, with a token that is made anew whenever it is asked for."""

    async def source() -> str:
        return testbed.token(user)

    return RESTDriver(Connection(testbed.rest_url, user, KeptToken(source, time.time)), user)


def by_pyslurm(testbed: Testbed, line: str, folder: Path, user: str = "root") -> PySlurmDriver:
    """With the stand-in of this line, ``line_22_5`` or ``line_25_11``, as the module pyslurm."""
    (folder / "pyslurm.py").write_text(f"from tests.slurm.pyslurm_standin.{line} import *\n")
    path = testbed.environment["PATH"]
    if line == "line_25_11":
        (folder / "bin").mkdir()
        (folder / "bin/scontrol").write_text(SAYS_25_11)
        (folder / "bin/scontrol").chmod(0o755)
        path = f"{folder / 'bin'}:{path}"
    return PySlurmDriver(PySlurmProcess({**testbed.environment, "PATH": path, "PYTHONPATH": f"{folder}:{ROOT}"}), user)

"""What ``srun`` becomes in a script that is watched: the launcher is put before the program, then srun takes over."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Dict, List, Mapping, Sequence

from hedgerow import environment, machine, pack
from hedgerow.log import say
from hedgerow.slurm import srun_line, srun_options

# The file that stands in for srun says here where the real one is.
REAL = "HEDGEROW_SRUN"
# Where it is set, the controller at its end starts the steps.
STEPS = "HEDGEROW_STEPS"
_HELP_SECONDS = 30.0
_CANNOT_START = 127


def main(arguments: List[str]) -> int:
    """Become srun; the exit code where that is not possible."""
    variables = machine.given_environment()
    os.environ.pop(REAL, None)
    real = variables.pop(REAL, "") or "srun"
    more = learn(arguments, real, variables)
    why = srun_line.why_not(arguments, variables, more)
    if not why and variables.get(STEPS):
        from hedgerow.slurm.step_runner import run_step

        return int(run_step(arguments, real))
    archive = pack.archive_of_this_package()
    if why or archive is None:
        return _become(real, arguments, variables)
    launcher = srun_line.launcher_words(sys.executable, archive)
    new = srun_line.with_launcher(arguments, launcher, variables, mounts(archive, variables), more)
    return _become(real, new, variables)


def mounts(archive: str, variables: Mapping[str, str]) -> List[str]:
    """The folders that a launcher needs."""
    files = [archive] + [variables.get(name, "") for name in (environment.ADDRESS_FILE, environment.TOKEN_FILE)]
    return sorted({os.path.dirname(path) for path in files if os.path.isabs(path)})


def learn(arguments: Sequence[str], real: str, variables: Mapping[str, str]) -> Dict[str, int]:
    """Options that plugins of this site add, where the line has one that is not known."""
    try:
        srun_options.parse(arguments)
        return {}
    except srun_options.Unknown:
        pass
    try:
        done = subprocess.run(
            [real, "--help"], env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=_HELP_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return srun_options.learned(done.stdout.decode("utf-8", "replace"))


def _become(real: str, arguments: Sequence[str], variables: Dict[str, str]) -> int:
    try:
        os.execvpe(real, ["srun"] + list(arguments), variables)  # noqa: S606 (what the user's script asked for)
    except OSError as error:
        say("srun cannot be started: %s" % (error.strerror or error))
    return _CANNOT_START

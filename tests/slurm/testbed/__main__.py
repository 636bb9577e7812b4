"""`python -m tests.slurm.testbed {packages,shell}`: what `make` calls."""

import os
import subprocess
import sys

from tests.slurm.testbed import requirements
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.testbed import Testbed


def main(words: list[str]) -> int:
    """Print the Debian packages that the testbed needs, or open a shell beside a new cluster."""
    if words == ["packages"]:
        print(" ".join(requirements.APT_PACKAGES))
        return 0
    if words != ["shell"]:
        print(f"Write `packages` or `shell` after the module's name, not {' '.join(words)!r}.", file=sys.stderr)
        return 2
    try:
        testbed = Testbed.start()
    except TestbedError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Slurm with four nodes; slurmrestd listens at {testbed.rest_url}. The folder goes when you leave.")
    shell = subprocess.run(
        [os.environ.get("SHELL", "/bin/sh")],
        cwd=testbed.jobs,
        env={**os.environ, **testbed.environment, "SLURM_REST_URL": testbed.rest_url},
        check=False,
    )
    testbed.close()
    return shell.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

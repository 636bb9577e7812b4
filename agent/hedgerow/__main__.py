"""``python hedgerow.pyz run …`` and ``python -m hedgerow run …``: the same as ``hedgerow run``.

``srun`` and ``shim`` are what scripts on Slurm call: :mod:`hedgerow.slurm.srun_shim`, :mod:`hedgerow.slurm.shim_files`.
"""

from __future__ import annotations

import sys
from typing import List

from hedgerow import launcher
from hedgerow.log import say
from hedgerow.slurm import shim_files, srun_shim


def main(arguments: List[str]) -> int:
    """Run the command named first in ``arguments``; the exit code."""
    if arguments[:1] == ["run"]:
        return launcher.main(arguments[1:])
    if arguments[:1] == ["srun"]:
        return srun_shim.main(arguments[1:])
    if arguments[:1] == ["shim"]:
        return shim_files.main(arguments[1:])
    say("write `hedgerow run [OPTIONS] -- COMMAND`; this archive knows only `run`")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``python hedgerow.pyz run …`` and ``python -m hedgerow run …``: the same as ``hedgerow run``.

``srun`` and ``shim`` are what scripts on Slurm call: :mod:`hedgerow.slurm.srun_shim`, :mod:`hedgerow.slurm.shim_files`.
"""

from __future__ import annotations

import sys
from typing import List

from hedgerow.log import say


def main(arguments: List[str]) -> int:
    """Run the command named first in ``arguments``; the exit code. Each imports no more than it needs."""
    if arguments[:1] == ["run"]:
        from hedgerow import launcher

        return launcher.main(arguments[1:])
    if arguments[:1] == ["srun"]:
        from hedgerow.slurm import srun_shim

        return srun_shim.main(arguments[1:])
    if arguments[:1] == ["shim"]:
        from hedgerow.slurm import shim_files

        return shim_files.main(arguments[1:])
    say("write `hedgerow run [OPTIONS] -- COMMAND`; this archive knows only `run`")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

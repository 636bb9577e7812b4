"""Programs in place of Slurm's commands, for what the installed Slurm does not do."""

import os
import shlex
from pathlib import Path

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver

USER = os.geteuid()


class Programs:
    """A folder of programs, first and alone on PATH, and the driver that runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("sh", "cat", "sleep", "env", "yes", "head"):
            (folder / name).symlink_to(f"/bin/{name}")

    def says(self, name: str, *, text: str = "", errors: str = "", code: int = 0, script: str = "") -> "Programs":
        """One that notes its words, runs `script`, prints, and ends so; --version is that of 24.05 unless scripted."""
        (self.folder / f"{name}.out").write_text(text)
        lines = [
            "#!/bin/sh",
            f'printf "%s\\n" "$0 $*" >> {shlex.quote(str(self.folder / "calls"))}',
            f"printf '%s' {shlex.quote(errors)} >&2",
            script,
            f"cat {shlex.quote(str(self.folder / f'{name}.out'))}",
            f"exit {code}",
        ]
        (self.folder / name).write_text("\n".join(lines) + "\n")
        (self.folder / name).chmod(0o755)
        return self

    def version(self, shown: str) -> "Programs":
        """The version that squeue says, whatever else it says."""
        path = self.folder / "squeue"
        text = path.read_text() if path.exists() else "#!/bin/sh\nexit 1\n"
        path.write_text(text.replace("#!/bin/sh\n", f'#!/bin/sh\n[ "$1" = --version ] && echo {shown} && exit 0\n'))
        path.chmod(0o755)
        return self

    def calls(self) -> list[str]:
        """What was called, each with its words."""
        path = self.folder / "calls"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [line.removeprefix(f"{self.folder}/") for line in lines]

    def driver(self, **environment: str) -> CliDriver:
        """A driver that finds these programs alone."""
        return CliDriver({"PATH": str(self.folder), **environment})

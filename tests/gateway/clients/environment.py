"""An environment with the clients that people use, made once and kept: they are no part of the project's own."""

import fcntl
import subprocess
import venv
from pathlib import Path

# What the gateway is known to work with.
PACKAGES = ("openai==3.57.0", "runpod==1.12.0")
FOLDER = Path.home() / ".cache" / "hedgerow" / "clients"


def python() -> Path:
    """Its interpreter. Takes a minute the first time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    done = FOLDER / "installed"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != " ".join(PACKAGES):
            venv.create(FOLDER / "venv", with_pip=True, clear=True)
            subprocess.run([FOLDER / "venv" / "bin" / "pip", "install", "-q", *PACKAGES], check=True)
            done.write_text(" ".join(PACKAGES))
    return FOLDER / "venv" / "bin" / "python"

"""Run a program and, when it fails, say so in one sentence with its last words."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.testbed.errors import ClusterError

LAST_WORDS = 600  # characters of output that go into an error


def run(
    command: Sequence[str | Path],
    *,
    stdin: str | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """Run `command` and return its standard output; ClusterError when it exits with another status than 0."""
    done = subprocess.run(
        [str(part) for part in command],
        input=stdin,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        words = " | ".join(text.strip()[-LAST_WORDS:] for text in (done.stdout, done.stderr) if text.strip())
        raise ClusterError(f"{' '.join(map(str, command))[:200]} exited with {done.returncode}: {words}")
    return done.stdout

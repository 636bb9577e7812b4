"""The agent as these tests start it: the real command, over the real driver."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

AGENT = Path(__file__).resolve().parents[2] / "agent"
SECONDS = 60


class NotPossible(Exception):
    """This part needs what this machine has not."""


def once() -> dict[str, Any]:
    """One look, as the agent reports it."""
    command = [sys.executable, "-m", "hedgerow_agent", "--once", "-o", "json"]
    environment = {**os.environ, "PYTHONPATH": str(AGENT)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=True)
    report: dict[str, Any] = json.loads(run.stdout)
    return report

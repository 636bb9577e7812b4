"""What a rank does to the files that it shares with its launcher never ends the launcher, nor its reports."""

from __future__ import annotations

import pytest

from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

BEATS_THEN = """
import os, time, hedgerow
path = os.environ["HEDGEROW_HEARTBEAT"]
hedgerow.beat(step=1)
hedgerow.beat(step=2)
{act}
time.sleep(1.5)
raise SystemExit(7)
"""
ACTS = {
    "cuts its heartbeat file short": "os.truncate(path, 0)",
    "deletes its heartbeat file": "os.remove(path)",
    "writes garbage into it": "open(path, 'r+b').write(os.urandom(os.path.getsize(path)))",
    "makes pipes of all files beside it, and starts Python again": """
folder = os.path.dirname(path)
for name in os.listdir(folder):
    if os.path.isfile(os.path.join(folder, name)):
        os.remove(os.path.join(folder, name))
        os.mkfifo(os.path.join(folder, name))
import subprocess, sys
subprocess.run([sys.executable, "-c", "pass"], timeout=60)
""",
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_a_launcher_survives_a_rank_that(launch: Launch, operator: OperatorDouble, act: str) -> None:
    launch(*python(BEATS_THEN.format(act=act)))
    operator.command(begin())
    assert operator.wait_for_rank(lambda rank: rank.exit_code is not None).exit_code == 7

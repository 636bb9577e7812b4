"""On a terminal the jobs are a table that is rewritten in place."""

import os
import pty
import re
import subprocess
import sys

from tests.local.processes import LocalRun


def test_the_table_shows_the_job_from_start_to_end_in_two_lines_of_the_terminal(run: LocalRun) -> None:
    run.write(env={"STEPS": "3"})
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "hedgerow_operator.cli", "local", "-f", str(run.manifest)]
    controller = subprocess.Popen([*command, "--state-dir", str(run.state), "-o", "wide"], stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while part := read(master):
        shown += part
    os.close(master)
    assert controller.wait(60) == 0
    text = shown.decode()
    assert re.search(r"NAMESPACE +NAME +STATE +REASON +STEP +STEP TIME +PHASE +RANKS", text)
    assert re.search(r"default +run +Succeeded +AllRanksFinished +3 ", text), text
    assert "\x1b[2A" in text
    assert "Traceback" not in text


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other side is closed
        return b""

"""The lock on a state directory, the token of a job, and files that are whole or absent."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hedgerow_operator.adapters.local import lock
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.lock import locked
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.tokens import TokenFiles, ensure_token
from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.server.auth import Denied
from tests.local.builders import local_job
from tests.unit.server.builders import report

KEY = key_of(local_job(Path("/")))

HOLD = """
import sys, time
from pathlib import Path
from hedgerow_operator.adapters.local.lock import locked
from hedgerow_operator.adapters.local.paths import StatePaths
with locked(StatePaths(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_controller_is_told_which_process_holds_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_PATIENCE_SECONDS", 0.0)
    sentence = rf"another hedgerow \(process {os.getpid()}\) runs the jobs in"
    with locked(StatePaths(tmp_path)), pytest.raises(StateError, match=sentence), locked(StatePaths(tmp_path)):
        raise AssertionError("two controllers hold one state")
    with locked(StatePaths(tmp_path)):
        pass


def test_the_lock_of_a_killed_controller_is_free(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    with locked(StatePaths(tmp_path)):
        pass


def test_a_state_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = StatePaths(tmp_path / "file" / "state")
    with pytest.raises(StateError, match=r"cannot be used .*--state-dir"), locked(paths):
        raise AssertionError("a state below a file")


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    token = ensure_token(paths, KEY)
    assert len(token) >= 40
    assert ensure_token(paths, KEY) == token
    assert stat.S_IMODE(paths.token(KEY).stat().st_mode) == 0o600


async def test_only_the_token_of_the_job_that_is_reported_is_believed(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    token, other = ensure_token(paths, KEY), ensure_token(paths, JobKey("default", "other"))
    files = TokenFiles(paths, {"uid-1": KEY, "uid-2": JobKey("default", "other")}.get)
    await files.check(token, report())
    for wrong in (other, token[:-1], "", None, "ünicode", "\udcff\udcfe"):
        with pytest.raises(Denied) as denied:
            await files.check(wrong, report())
        assert token not in str(denied.value)
        assert not denied.value.identified


async def test_a_report_whose_uid_and_name_disagree_is_denied(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    other = JobKey("default", "other")
    token = ensure_token(paths, other)
    with pytest.raises(Denied) as denied:
        await TokenFiles(paths, {"uid-1": other}.get).check(token, report())
    assert denied.value.identified


WRITE = """
import sys
from pathlib import Path
from hedgerow_operator.adapters.local.files import write_whole
number = 0
while True:
    write_whole(Path(sys.argv[1]), (str(number % 10) * 100_000).encode())
    number += 1
"""


def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "object"
    write_whole(path, b"0" * 100_000)
    for wait in (0.15, 0.2, 0.25):
        with subprocess.Popen([sys.executable, "-c", WRITE, str(path)]) as writer:
            time.sleep(wait)
            writer.kill()
        data = path.read_bytes()
        assert len(data) == 100_000
        assert len(set(data)) == 1

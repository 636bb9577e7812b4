"""Deleting the state directory under a running job restarts nothing: it is said, and the files are written again."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from hedgerow_operator.adapters.local import lock
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.lock import StateLock, locked
from hedgerow_operator.adapters.local.paths import StatePaths
from tests.local.processes import LocalRun, kill


def test_healthy_ranks_train_on_when_the_state_directory_is_deleted_and_the_end_is_known(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "120"}).start()
    run.until_printed("step 10: loss")
    ranks = run.ranks()
    shutil.rmtree(run.state, ignore_errors=True)
    run.until(lambda: (run.state / "default" / "TrainingJob" / "run.yaml").exists())
    assert run.ranks() == ranks
    code, output = run.end(controller)
    assert (code, run.job().status.restarts) == (0, 0), output
    assert output.count("were deleted while its jobs run") == 1


def test_a_rank_that_dies_after_that_is_healed_as_ever(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "100"}).start()
    run.until_printed("step 20: loss")
    ranks = run.ranks()
    shutil.rmtree(run.state, ignore_errors=True)
    run.until(lambda: (run.state / "default" / "TrainingJob" / "run.yaml").exists())
    kill(ranks[1], signal.SIGKILL)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert (status.resume_step or 0) >= 20, output  # the ranks went on until their files were written again


def test_a_lock_whose_file_was_deleted_is_taken_again_unless_another_was_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_PATIENCE_SECONDS", 0.0)
    paths = StatePaths(tmp_path / "state")
    with locked(paths) as mine:
        assert not mine.is_lost
        shutil.rmtree(paths.root)
        assert mine.is_lost
        other = StateLock(paths)
        with pytest.raises(StateError, match="another hedgerow"):
            mine.retake()
        assert mine.is_lost
        other.release()
        mine.retake()
        assert not mine.is_lost
        with pytest.raises(StateError, match="another hedgerow"):
            StateLock(paths)


def a_link(path: Path) -> None:
    path.with_name("precious").write_text("mine\n")
    path.symlink_to(path.with_name("precious"))


@pytest.mark.parametrize(
    "make",
    [a_link, lambda path: path.symlink_to(path.with_name("nowhere")), os.mkfifo, os.mkdir],
    ids=["a link", "a link to nothing", "a pipe", "a folder"],
)
def test_a_lock_that_is_no_plain_file_is_one_sentence_and_nothing_is_written(tmp_path: Path, make: object) -> None:
    make(tmp_path / "lock")  # type: ignore[operator]
    with pytest.raises(StateError, match=r"lock is no plain file, .*--state-dir"), locked(StatePaths(tmp_path)):
        raise AssertionError("held")
    assert not (tmp_path / "nowhere").exists()
    if (tmp_path / "precious").exists():
        assert (tmp_path / "precious").read_text() == "mine\n"

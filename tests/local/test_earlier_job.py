"""A job that was begun anew while its earlier ranks live is refused: never two at one checkpoint directory."""

import shutil
import signal
from pathlib import Path

import pytest

from tests.local.processes import LocalRun, kill


def wipe(run: LocalRun, what: str) -> None:
    """Lose the job object, or everything that was written down."""
    path = run.state / what
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.mark.parametrize("what", ["", "default/TrainingJob/run.yaml"], ids=["the state", "the job object"])
def test_ranks_of_a_job_whose_state_was_deleted_are_named_and_no_second_gang_starts(what: str, run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "100000"}).start()
    run.until(lambda: len(run.ranks()) == 2)
    before = run.alive()
    try:
        controller.kill()
        controller.wait()
        wipe(run, what)
        code, output = run.run()
        assert code == 2, output
        assert "an earlier job default/run still runs here" in output
        assert output.count("\n") == 1
        assert run.alive() == []
        named = [int(word) for word in output.rsplit("kill ", 1)[1].split()]
        assert set(named) == {member.identity.pid for member in before if not member.is_rank}
        for pid in named:
            kill(pid, signal.SIGTERM)
        run.until(lambda: not any(Path(f"/proc/{member.identity.pid}").exists() for member in before))
        run.start()
        run.until(lambda: len(run.ranks()) == 2)
    finally:
        for member in before:
            kill(member.identity.pid, signal.SIGKILL)

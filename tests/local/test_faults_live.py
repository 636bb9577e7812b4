"""Faults that really happen to processes on this machine, all at the same time: each is healed, or told as it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED, SUCCEEDED
from tests.local.processes import EXAMPLE, LocalRun

SCRIPT = Path(__file__).with_name("fault_script.py")
SECONDS = 120.0
# Rank 1 suffers; what the history says of the attempt: reason, guilty ranks, words of the message.
HEALED: dict[str, tuple[str, tuple[int, ...], str]] = {
    "lock": (reasons.NO_PROGRESS, (1,), "rank 1 never reached step 23"),
    "loop": (reasons.NO_PROGRESS, (1,), "rank 1 never reached step 23"),
    "pipe": (reasons.NO_PROGRESS, (1,), "rank 1 never reached step 23"),
    "stop": (reasons.RANK_STOPPED, (1,), "is stopped by a signal or debugger"),
    "kill": (reasons.RANK_EXITED, (1,), "rank 1 exited by signal 9 at step 22"),
    "memory": (reasons.RANK_EXITED, (1,), "MemoryError"),
    "storage": (reasons.RANK_EXITED, (1,), "No such file or directory"),
}
EVERYWHERE = "everywhere"

Ended = dict[str, tuple[LocalRun, int, str]]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """Every fault's job, started together, at its end: its run, exit code and what was printed."""
    runs = {fault: LocalRun(tmp_path_factory.mktemp(fault)) for fault in (*HEALED, EVERYWHERE)}
    try:
        controllers = {}
        for fault, run in runs.items():
            run.write(script=SCRIPT, env={"FAULT": fault, "QUICKSTART": str(EXAMPLE)})
            # Many processes share few cores here: a rank that waits for its turn must not look stuck.
            run.manifest.write_text(run.manifest.read_text().replace("minSeconds: 2", "minSeconds: 6"))
            controllers[fault] = run.start()
        yield {fault: (runs[fault], *runs[fault].end(controllers[fault], SECONDS)) for fault in runs}
    finally:
        for run in runs.values():
            run.clean()


@pytest.mark.parametrize("fault", HEALED)
def test_healed_with_one_restart_from_the_newest_checkpoint(ended: Ended, fault: str) -> None:
    run, code, output = ended[fault]
    reason, ranks, words = HEALED[fault]
    status = run.job().status
    assert (code, status.restarts, run.condition(SUCCEEDED).status) == (0, 1, "True"), output
    assert (status.history[0].reason, status.history[0].ranks) == (reason, ranks), output
    assert words in status.history[0].message
    assert (status.resume_step, status.step) == (20, 40)


def test_the_same_exception_on_all_ranks_is_no_reason_to_try_again(ended: Ended) -> None:
    run, code, output = ended[EVERYWHERE]
    assert (code, run.job().status.restarts) == (1, 0), output
    assert run.condition(FAILED).reason == reasons.APPLICATION_FAULT
    assert "no such column: price" in run.condition(FAILED).message


def test_nothing_is_left_alive(ended: Ended) -> None:
    assert [member for run, _code, _output in ended.values() for member in run.alive()] == []

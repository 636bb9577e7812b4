"""Faults that really happen to processes on this machine, all at the same time: each is healed, or told as it is."""

import signal
from collections.abc import Iterator

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import DEGRADED, FAILED, RUNNING, SUCCEEDED
from tests.local import faults
from tests.local.forked import Forked
from tests.local.processes import EXAMPLE, LocalRun

SECONDS = 120.0

Started = dict[str, tuple[LocalRun, Forked]]
Ended = dict[str, tuple[LocalRun, int, str]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Every fault's job, started together; the one that takes longest first."""
    runs = {fault: LocalRun(tmp_path_factory.mktemp(fault)) for fault in ("slow", *faults.HEALED, faults.EVERYWHERE)}
    try:
        yield {fault: (run, begin(run, fault)) for fault, run in runs.items()}
    finally:
        for run in runs.values():
            run.clean()


@pytest.fixture(scope="module")
def ended(started: Started) -> Ended:
    """Those that end by themselves, at their end: the run, exit code and what was printed."""
    return {
        fault: (run, *run.end(controller, SECONDS)) for fault, (run, controller) in started.items() if fault != "slow"
    }


def begin(run: LocalRun, fault: str) -> Forked:
    """A controller of a job that suffers this."""
    special, ranks = (faults.SLOW, faults.SLOW_RANKS) if fault == "slow" else ({}, 2)
    run.write(script=faults.SCRIPT, env={"FAULT": fault, "QUICKSTART": str(EXAMPLE), **special}, ranks=ranks)
    # Many processes share few cores here: a rank that waits for its turn must not look stuck.
    run.manifest.write_text(run.manifest.read_text().replace("minSeconds: 2", "minSeconds: 6"))
    return run.start()


@pytest.mark.parametrize("fault", faults.HEALED)
def test_healed_with_one_restart_from_the_newest_checkpoint_there_is(ended: Ended, fault: str) -> None:
    run, code, output = ended[fault]
    expected, status = faults.HEALED[fault], run.job().status
    assert (code, status.restarts, run.condition(SUCCEEDED).status) == (0, 1, "True"), output
    first = status.history[0]
    assert (first.reason, first.ranks, first.fault_class) == (expected.reason, (1,), expected.fault_class), output
    assert expected.words in first.message
    assert (status.resume_step, status.step) == (expected.resumed, faults.LAST)


def test_the_same_exception_on_all_ranks_is_no_reason_to_try_again(ended: Ended) -> None:
    run, code, output = ended[faults.EVERYWHERE]
    assert (code, run.job().status.restarts) == (1, 0), output
    assert run.condition(FAILED).reason == reasons.APPLICATION_FAULT
    assert faults.EVERYWHERE_SAID in run.condition(FAILED).message


def test_a_rank_that_has_to_share_its_core_is_told_of_by_number_and_nothing_is_restarted(started: Started) -> None:
    run, controller = started["slow"]
    run.until(lambda: run.holds(DEGRADED), SECONDS)
    status, degraded = run.job().status, run.condition(DEGRADED)
    assert (degraded.reason, status.degradations[0].ranks) == (reasons.SLOWER_THAN_PEERS, (1,)), degraded
    assert degraded.message.startswith(faults.SLOW_SAID)
    assert (status.restarts, status.history, run.condition(RUNNING).status) == (0, (), "True")
    controller.send_signal(signal.SIGINT)
    run.end(controller)


def test_nothing_is_left_alive(ended: Ended, started: Started) -> None:
    assert ended
    assert [member for run, _controller in started.values() for member in run.alive()] == []

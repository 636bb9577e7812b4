"""An isolated launcher ends its ranks; one that is confirmed, by the operator or by its peers, does not."""

from __future__ import annotations

import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from hedgerow import wire
from tests.launcher.launching import Launch, LauncherProcess, alive, begin, python, wait_until
from tests.launcher.operator_double import OperatorDouble

SLEEP = "import time; time.sleep(120)"
FENCE_SECONDS = 3.0


class Gang:
    """Two launchers with one rank each; each may be given an operator of its own, so that one can be cut off."""

    def __init__(self, launch: Launch, operators: list[OperatorDouble]) -> None:
        self.operators = operators
        self.launchers: list[LauncherProcess] = [
            launch(
                *python(SLEEP),
                worker=worker,
                HEDGEROW_WORKERS="2",
                HEDGEROW_FENCE_SECONDS=str(FENCE_SECONDS),
                HEDGEROW_REPORT_URL=operator.url,
            )
            for worker, operator in enumerate(operators)
        ]
        waiting = [self.wait_for(worker, lambda r: r.stage == wire.STAGE_WAITING) for worker in (0, 1)]
        self.peers = [report.peer_address for report in waiting]
        for worker, operator in enumerate(operators):
            operator.command(begin(peers=self.peers), worker=worker)
        self.ranks = [self.wait_for(worker, lambda r: bool(r.ranks)).ranks[0].pid or 0 for worker in (0, 1)]

    def wait_for(self, worker: int, what: object) -> wire.Report:
        return self.operators[worker].wait_for(what, worker)  # type: ignore[arg-type]


@pytest.fixture
def second_operator() -> Iterator[OperatorDouble]:
    double = OperatorDouble()
    yield double
    double.close()


def test_all_train_on_while_the_operator_is_down_and_every_launcher_answers(
    launch: Launch, operator: OperatorDouble
) -> None:
    gang = Gang(launch, [operator, operator])
    operator.go_away()
    time.sleep(3 * FENCE_SECONDS)
    assert all(alive(pid) for pid in gang.ranks)


def test_one_that_is_cut_off_from_the_operator_trains_on_by_the_word_of_the_other(
    launch: Launch, operator: OperatorDouble, second_operator: OperatorDouble
) -> None:
    gang = Gang(launch, [operator, second_operator])
    second_operator.go_away()
    time.sleep(3 * FENCE_SECONDS)
    assert all(alive(pid) for pid in gang.ranks)


def test_one_that_nobody_confirms_kills_its_ranks_in_time(launch: Launch, operator: OperatorDouble) -> None:
    gang = Gang(launch, [operator, operator])
    # The other worker's machine freezes, and the operator goes: nobody answers any more.
    os.kill(gang.launchers[1].pid, signal.SIGSTOP)
    operator.go_away()
    wait_until(lambda: not alive(gang.ranks[0]), 30)
    assert alive(gang.ranks[1]), "its launcher is frozen"
    os.kill(gang.launchers[1].pid, signal.SIGCONT)
    wait_until(lambda: not alive(gang.ranks[1]), 2)
    operator.listen()
    reports = [gang.wait_for(worker, lambda r: r.stage == wire.STAGE_STOPPED) for worker in (0, 1)]
    assert [report.stop_cause for report in reports] == [wire.STOP_FENCE, wire.STOP_FENCE]


def test_a_launcher_that_was_told_to_stop_no_longer_vouches_for_the_attempt(
    launch: Launch, operator: OperatorDouble, second_operator: OperatorDouble
) -> None:
    gang = Gang(launch, [operator, second_operator])
    second_operator.go_away()
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    gang.wait_for(0, lambda r: r.stage == wire.STAGE_STOPPED)
    wait_until(lambda: not alive(gang.ranks[1]), 30)


def test_a_peer_answers_only_who_knows_the_secret_of_the_attempt(launch: Launch, operator: OperatorDouble) -> None:
    gang = Gang(launch, [operator, operator])

    def ask(attempt: int, token: str) -> wire.PeerAnswer | int:
        request = urllib.request.Request(f"http://{gang.peers[0]}{wire.PEER_PATH}?attempt={attempt}")
        request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return wire.decode_peer_answer(response.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    answer = ask(1, "secret")
    assert isinstance(answer, wire.PeerAnswer)
    assert answer.running
    assert answer.answer_age is not None
    assert ask(2, "secret") == wire.PeerAnswer(attempt=2, running=False)
    assert ask(1, "guess") == 403
    assert ask(1, "") == 403

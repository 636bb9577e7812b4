"""A user's log pattern that takes for ever holds nothing up: reports, samples and stops go on."""

from __future__ import annotations

import itertools
import time

from hedgerow import wire
from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

EVIL = """
import itertools
import time
print("step 1aa", flush=True)
while True:
    time.sleep(0.05)
    print("step 2" + "a" * 60 + "!", flush=True)
"""


def test_an_expression_without_end_is_given_up_while_everything_else_goes_on(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.interval = 0.5
    operator.command(begin())
    launcher = launch(*python(EVIL), HEDGEROW_HEARTBEAT_SOURCE="Log", HEDGEROW_LOG_PATTERN=r"step (?P<step>\d+)(a+)+$")
    rank = operator.wait_for_rank(lambda rank: rank.step == 1)
    assert not rank.bursty
    report = operator.wait_for(lambda report: report.ranks and report.ranks[0].bursty, seconds=60)
    assert report.unread_output_bytes > 0
    reports = operator.of()
    times = [one.sent_monotonic for one in reports if one.ranks]
    longest = max(later - sooner for sooner, later in itertools.pairwise(times))
    assert longest < 8.0, "reports went on: a pattern is waited for up to 10 s"
    assert launcher.err.count("step (?P<step>") == 1, "one clear line"
    began = time.monotonic()
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    operator.wait_for(lambda report: report.stage == wire.STAGE_STOPPED)
    assert time.monotonic() - began < 20.0, "a kill waits for no grace of 30 s"


def test_the_process_that_reads_by_a_pattern_keeps_no_attempt_alive(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    code = "print('step 3', flush=True); import time; time.sleep(1)"
    launch(*python(code), HEDGEROW_HEARTBEAT_SOURCE="Log", HEDGEROW_LOG_PATTERN=r"step (?P<step>\d+)")
    report = operator.wait_for(lambda report: report.stage == wire.STAGE_STOPPED)
    assert report.stop_cause == wire.STOP_ENDED
    assert report.ranks[0].step == 3

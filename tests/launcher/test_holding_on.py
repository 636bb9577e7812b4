"""Nothing of an attempt is left behind, and nothing of it ends without need."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

from hedgerow import wire
from tests.launcher.launching import Launch, alive, begin, python, wait_until
from tests.launcher.operator_double import OperatorDouble

BEAT = """
import hedgerow, time
step = 0
while True:
    step += 1
    hedgerow.beat(step=step)
    time.sleep(0.02)
"""
# A process that left its session and its parent, and closed its output.
ESCAPE = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(sys.argv[1] + ".part", "w").write(str(os.getpid()))
        os.rename(sys.argv[1] + ".part", sys.argv[1])
        time.sleep(60)
    os._exit(0)
time.sleep({seconds})
"""


def escapee(launcher_folder: Path) -> int:
    path = launcher_folder / "escapee"
    wait_until(path.exists)
    return int(path.read_text())


def test_a_process_that_escaped_twice_is_found_and_killed(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(sys.executable, "-c", ESCAPE.format(seconds=60), "escapee")
    pid = escapee(launcher.folder)
    assert alive(pid)
    operator.command(wire.Command(wire.COMMAND_STOP, 1, kill=True))
    operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED)
    assert not alive(pid)


def test_what_a_finished_rank_left_running_is_ended_before_the_attempt_counts_as_over(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.command(begin())
    launcher = launch(sys.executable, "-c", ESCAPE.format(seconds=0.5), "escapee", HEDGEROW_GRACE_SECONDS="1")
    pid = escapee(launcher.folder)
    report = operator.wait_for(lambda r: r.ranks and r.ranks[0].state == wire.RANK_EXITED)
    assert report.stage != wire.STAGE_STOPPED
    assert operator.wait_for(lambda r: r.stage == wire.STAGE_STOPPED).stop_cause == wire.STOP_ENDED
    assert not alive(pid)
    assert launcher.err.count("hedgerow: rank 0 ended with exit code 0 and left 1 process, which is ended\n") == 1


def test_a_launcher_killed_outright_takes_its_ranks_with_it(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(BEAT), HEDGEROW_NPROC="2")
    ranks = [rank.pid or 0 for rank in operator.wait_for(lambda r: len(r.ranks) == 2).ranks]
    os.kill(ranks[1], signal.SIGSTOP)
    os.kill(launcher.pid, signal.SIGKILL)
    launcher.wait()
    wait_until(lambda: not any(alive(pid) for pid in ranks))


def test_training_goes_on_while_the_operator_is_away(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(BEAT), HEDGEROW_FENCE_SECONDS="1")
    before = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 10)
    operator.go_away()
    time.sleep(2.0)  # longer than the fence: a lone worker never ends itself
    operator.listen()
    later = (before.ranks[0].step or 0) + 50
    after = operator.wait_for(lambda r: (r.ranks[0].step or 0) > later, after=operator.of()[-1].seq)
    assert after.ranks[0].pid == before.ranks[0].pid
    lost, found = "no report reaches the operator", "reports reach the operator again"
    wait_until(lambda: found in launcher.err)
    told = re.findall(f"{lost}|{found}", launcher.err)
    # Once for each time that it is away; on a busy machine an answer may be late at other times too.
    assert told == ([lost, found] * len(told))[: len(told)]


def test_a_refusal_is_told_once_and_ends_nothing(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launcher = launch(*python(BEAT))
    before = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 10)
    operator.refusal = (403, b'{"message": "the token is for another job"}')
    wait_until(lambda: "the operator refuses reports: 403 the token is for another job" in launcher.err)
    operator.refusal = None
    after = operator.wait_for(lambda r: True, after=operator.of()[-1].seq)
    assert after.ranks[0].pid == before.ranks[0].pid


def test_the_address_and_the_token_are_read_anew_at_each_try(
    launch: Launch, operator: OperatorDouble, tmp_path: Path
) -> None:
    address, token = tmp_path / "address", tmp_path / "token"
    address.write_text("http://127.0.0.1:9")
    token.write_text("first\n")
    launch(
        *python(BEAT),
        HEDGEROW_REPORT_URL="",
        HEDGEROW_ADDRESS_FILE=str(address),
        HEDGEROW_TOKEN_FILE=str(token),
        http_proxy="http://127.0.0.1:9",
    )
    time.sleep(0.3)
    address.write_text(operator.url)
    operator.wait_for(lambda r: True)
    assert operator.tokens[0] == "Bearer first"
    token.write_text("second\n")
    wait_until(lambda: operator.tokens[-1] == "Bearer second")


def test_without_an_operator_the_exit_code_is_that_of_the_rank_that_failed(launch: Launch) -> None:
    code = "import os; raise SystemExit(3 if os.environ['RANK'] == '1' else 0)"
    launcher = launch(*python(code), reports=False, HEDGEROW_NPROC="2")
    assert launcher.wait() == 3


def test_bad_input_gets_one_sentence(launch: Launch) -> None:
    launcher = launch("true", reports=False, HEDGEROW_NPROC="many")
    assert launcher.wait() == 2
    assert launcher.err == "hedgerow: HEDGEROW_NPROC is 'many'; write a number\n"


def test_output_of_several_ranks_never_mixes_within_a_line(launch: Launch) -> None:
    code = (
        "import os, sys, time\n"
        "for n in range(20):\n"
        "    for part in ('rank ', os.environ['RANK'], ' line ', str(n), '\\n'):\n"
        "        sys.stdout.write(part); sys.stdout.flush(); time.sleep(0.001)\n"
    )
    launcher = launch(*python(code), reports=False, HEDGEROW_NPROC="3")
    assert launcher.wait() == 0
    assert sorted(launcher.out.splitlines()) == sorted(f"rank {r} line {n}" for r in range(3) for n in range(20))


def test_nobody_reading_the_output_holds_up_no_report(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    read, write = os.pipe()
    try:
        launch(*python("print('x' * 10_000_000)"), out=write)
        reports = [operator.wait_for(lambda r: r.ranks)]
        for _ in range(3):
            reports.append(operator.wait_for(lambda r: True, after=reports[-1].seq))
        assert reports[-1].ranks[0].state != wire.RANK_EXITED, "it is blocked by its own output, as without a launcher"
        assert len(os.read(read, 65536)) > 0
    finally:
        os.close(write)
        os.close(read)


def test_reports_follow_each_other_on_one_connection(launch: Launch, operator: OperatorDouble) -> None:
    operator.interval = 0.2
    operator.command(begin())
    launch(*python(BEAT))
    operator.wait_for(lambda r: r.ranks and r.ranks[0].beats > 0)
    # What is reported at once meanwhile, such as the first beat, takes a connection of its own.
    before, seen = operator.connections, operator.of()[-1].seq
    operator.wait_for(lambda r: r.seq > seen + 10)
    assert operator.connections <= before + 2


def test_a_launcher_that_was_kept_waiting_by_a_restart_of_the_operator_reports_again(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.interval = 0.2
    operator.command(begin())
    launch(*python(BEAT))
    operator.wait_for(lambda r: r.ranks and r.ranks[0].beats > 0)
    operator.go_away()
    operator.listen()
    seen = operator.of()[-1].seq
    operator.wait_for(lambda r: r.seq > seen + 3)

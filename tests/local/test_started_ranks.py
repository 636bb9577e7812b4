"""A command that starts the ranks itself, on this machine: the quickstart below a stand-in for torchrun."""

import os
import signal
import sys
from pathlib import Path

from hedgerow_operator.adapters.local.processes import members
from hedgerow_operator.api import reasons
from tests.local.processes import EXAMPLE, LocalRun, kill, launcher_pid

STARTER = Path(__file__).parents[1] / "launcher" / "ranks_starter.py"


def below_torchrun(run: LocalRun, **env: str) -> LocalRun:
    """The quickstart with two workers of two ranks, whose command is a program called torchrun."""
    torchrun = run.folder / "torchrun"
    torchrun.write_text(f"#!/bin/sh\nexec {sys.executable} {STARTER} {EXAMPLE}/train.py\n")
    torchrun.chmod(0o755)
    run.write(env={"STEPS": "50", **env}, workers=2)
    words = f'command: ["{sys.executable}", "{EXAMPLE / "train.py"}"]'
    text = run.manifest.read_text()
    assert words in text
    run.manifest.write_text(text.replace(words, f'command: ["{torchrun}"]'))
    return run


def test_the_rank_that_hangs_below_it_is_named_and_the_job_finishes(run: LocalRun) -> None:
    code, output = below_torchrun(run, HANG_RANK="2", TORN_STEP="30").run()
    status = run.job().status
    assert (code, status.restarts, status.attempt, status.step) == (0, 1, 2, 50), output
    assert [(entry.reason, entry.ranks) for entry in status.history] == [(reasons.NO_PROGRESS, (2,))]
    assert status.resume_step == 20
    assert run.alive() == []


def test_a_rank_that_is_killed_below_it_is_named_though_the_others_end_too(run: LocalRun) -> None:
    controller = below_torchrun(run).start()
    run.until_printed("step 20: loss")
    kill(ranks_of(run)[3], signal.SIGKILL)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert [(entry.reason, entry.ranks) for entry in status.history] == [(reasons.RANK_EXITED, (3,))]


def test_when_its_launcher_is_killed_the_ranks_do_not_live_beside_the_next_attempt(run: LocalRun) -> None:
    controller = below_torchrun(run).start()
    run.until_printed("step 20: loss")
    orphans = set(ranks_of(run).values())
    uid = run.job().metadata.uid
    os.kill(launcher_pid(run), signal.SIGKILL)
    run.until(lambda: 2 in {attempt_of(member.identity.pid) for member in members(uid)})
    assert not orphans & {member.identity.pid for member in members(uid)}
    code, output = run.end(controller)
    assert (code, run.job().status.restarts) == (0, 1), output


def ranks_of(run: LocalRun) -> dict[int, int]:
    """Pids of the live ranks, by RANK."""
    found = {}
    for member in run.alive():
        rank = variables(member.identity.pid).get("RANK")
        if rank is not None:
            found[int(rank)] = member.identity.pid
    return found


def attempt_of(pid: int) -> int:
    return int(variables(pid).get("HEDGEROW_ATTEMPT", "0"))


def variables(pid: int) -> dict[str, str]:
    """The environment of a process, empty when it is gone."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)

"""Commands are bounded, never left behind, get the right variables, and their failures are told apart."""

import asyncio
import os
import re
import time
from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm import errors
from hedgerow_operator.adapters.slurm.cli import commands
from hedgerow_operator.adapters.slurm.cli.environment import for_queries, for_submission
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable
from tests.unit.slurm.cli_programs import Programs

SUBMISSION = Submission(
    name="a", comment="hedgerow:u:1", script="#!/bin/sh\ntrue\n", options={"nodes": "2", "hold": ""}
)


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_missing_command_is_told_with_what_to_do(programs: Programs) -> None:
    sentence = (
        "there is no command sbatch on this machine: install Slurm's client commands (Debian: slurm-client) or put"
    )
    with pytest.raises(Unreachable, match=re.escape(sentence)):
        await programs.driver().submit(SUBMISSION)


async def test_a_command_that_cannot_be_run_is_told(programs: Programs) -> None:
    programs.says("sbatch")
    (programs.folder / "sbatch").write_text("#!/no/such/interpreter\n")
    with pytest.raises(Unreachable, match="sbatch cannot be run"):
        await programs.driver().submit(SUBMISSION)


async def ended(programs: Programs) -> None:
    """Wait until the program that wrote its number is gone."""
    deadline = time.monotonic() + 60
    while any(alive(int(pid)) for pid in (programs.folder / "pids").read_text().split()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def that_hangs(programs: Programs) -> str:
    """A program with a child that both never end."""
    pids = programs.folder / "pids"
    pids.touch()
    programs.says("hangs", script=f"sleep 1000 & echo $! $$ >> {pids}; sleep 1000")
    return str(programs.folder)


async def test_a_command_that_hangs_is_ended_with_its_children(programs: Programs) -> None:
    with pytest.raises(Unreachable, match="hangs had not ended after 1 s"):
        await commands.run(["hangs"], {"PATH": that_hangs(programs)}, seconds=1.0)
    await ended(programs)


async def test_what_a_command_that_hangs_has_complained_of_is_told(programs: Programs) -> None:
    programs.says("hangs", script="echo 'cannot stat file /nope, retrying' >&2; sleep 1000")
    with pytest.raises(Unreachable, match="hangs had not ended after 1 s: cannot stat file /nope, retrying"):
        await commands.run(["hangs"], {"PATH": str(programs.folder)}, seconds=1.0)


async def test_a_call_that_is_cancelled_leaves_no_command(programs: Programs) -> None:
    call = asyncio.create_task(commands.run(["hangs"], {"PATH": that_hangs(programs)}))
    deadline = time.monotonic() + 60
    while not (programs.folder / "pids").read_text().strip():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await ended(programs)


@pytest.mark.parametrize("cancels", [1, 2])
async def test_a_call_that_is_cancelled_while_its_command_starts_leaves_no_command(
    programs: Programs, cancels: int
) -> None:
    program = that_hangs(programs)
    for turns in range(12):
        call = asyncio.create_task(commands.run(["hangs"], {"PATH": program}))
        for _turn in range(turns):
            await asyncio.sleep(0)
        time.sleep(0.02)  # time in which the command has a child, and we do nothing
        for _cancel in range(cancels):
            call.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([call], timeout=120)
        assert call.cancelled(), turns
    await ended(programs)


async def test_a_command_that_prints_without_end_is_ended(programs: Programs) -> None:
    programs.says("floods", script="yes")
    with pytest.raises(commands.TooMuch):
        await commands.run(["floods"], {"PATH": str(programs.folder)}, most_output=1000)


async def test_a_command_that_does_not_read_its_script_does_no_harm(programs: Programs) -> None:
    programs.says("sbatch", text="7\n")
    script = "#!/bin/sh\n" + "x" * 1_000_000
    assert await programs.driver().submit(Submission(name="a", comment="c", script=script)) == "7"


async def test_the_options_are_words_of_their_own_and_the_script_is_read_from_stdin(programs: Programs) -> None:
    programs.says("sbatch", text="12;cluster\n", script=f"cat > {programs.folder}/script")
    assert await programs.driver().submit(SUBMISSION) == "12"
    words = "sbatch --parsable --job-name=a --comment=hedgerow:u:1 --chdir=/ --nodes=2 --hold"
    assert programs.calls() == [words]
    assert (programs.folder / "script").read_text() == SUBMISSION.script


@pytest.mark.parametrize("name", ["-x", "Nodes", "a b", "nodes=1 --hold", ""])
async def test_what_is_no_option_is_refused_by_name(programs: Programs, name: str) -> None:
    programs.says("sbatch", text="7\n")
    with pytest.raises(Refused, match=re.escape(f"{name!r} is no option of sbatch: write its long name")):
        await programs.driver().submit(Submission(name="a", comment="c", script="", options={name: "1"}))
    assert programs.calls() == []


FAILURES = {
    "refused": ("sbatch: error: Batch job submission failed: Requested node configuration is not available", Refused),
    "no such option": ("sbatch: unrecognized option '--foo'", Refused),
    "policy": ("sbatch: error: Batch job submission failed: Job violates accounting/QOS policy", Refused),
    "away": ("sbatch: error: Batch job submission failed: Unable to contact slurm controller", Unreachable),
    "frozen": ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", Unreachable),
    "too many at once": ("sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: … policy", Unreachable),
    "queue full": ("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.", Unreachable),
    "no configuration": ("sbatch: fatal: Could not establish a configuration source", Unreachable),
}


@pytest.mark.parametrize(("told", "kind"), FAILURES.values(), ids=FAILURES)
async def test_a_submission_that_can_never_be_is_told_from_one_of_which_nothing_is_known(
    programs: Programs, told: str, kind: type[Exception]
) -> None:
    programs.says("sbatch", errors=told + "\n", code=1)
    with pytest.raises(kind, match="sbatch: "):
        await programs.driver().submit(SUBMISSION)


async def test_a_command_that_was_killed_says_nothing_of_what_it_has_done(programs: Programs) -> None:
    programs.says("sbatch", script="kill -9 $$")
    with pytest.raises(Unreachable, match="sbatch: it failed without a word"):
        await programs.driver().submit(SUBMISSION)


@pytest.mark.parametrize(
    "told", ["scancel: error: Invalid job id 7", "Job/step already completing or completed", "already finished"]
)
async def test_cancelling_what_has_ended_is_fine(programs: Programs, told: str) -> None:
    programs.says("scancel", errors=told, code=1)
    await programs.driver().cancel("7")


@pytest.mark.parametrize("number", ["", "--user=root", "1 2", "-u", "abc"])
async def test_what_is_no_id_never_reaches_a_command(programs: Programs, number: str) -> None:
    programs.says("scancel").says("scontrol").says("squeue")
    driver = programs.driver()
    await driver.cancel(number)
    assert await driver.job(number) is None
    with pytest.raises(Refused, match="is no job id"):
        await driver.requeue(number, [])
    assert programs.calls() == []


INHERITED = {
    "PATH": "/bin",
    "HOME": "/root",
    "SLURM_CONF": "/x/slurm.conf",
    "SLURM_JOB_ID": "12",
    "SLURM_NTASKS": "8",
    "SLURMD_NODENAME": "n1",
    "SBATCH_ARRAY_INX": "1-9",
    "SBATCH_WAIT": "1",
    "SQUEUE_FORMAT": "%i",
    "SINFO_FORMAT": "%n",
    "SACCT_FORMAT": "user",
}


def test_of_slurms_own_variables_only_those_that_say_where_it_is_are_passed_on() -> None:
    kept = {"PATH": "/bin", "HOME": "/root", "SLURM_CONF": "/x/slurm.conf"}
    assert for_submission(INHERITED) == kept
    assert for_submission(INHERITED, {"A": "1"}) == {**kept, "A": "1"}
    assert for_queries(INHERITED) == {**kept, "SLURM_TIME_FORMAT": "%s"}


def test_without_other_variables_the_driver_takes_those_of_this_process() -> None:
    assert set(for_queries(os.environ)) >= {"PATH", "SLURM_TIME_FORMAT"}


SENTENCES = {
    "its own name is left out": ("sbatch: error: Invalid --time specification\n", "Invalid --time specification"),
    "several lines are one": ("sbatch: error: a.\nsbatch: error: b\n", "a; b"),
    "nothing": ("\n", "it failed without a word"),
    "very long": ("x" * 5000, "x" * 500),
}


@pytest.mark.parametrize(("output", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_a_command_says_becomes_one_sentence(output: str, sentence: str) -> None:
    assert errors.sentence(output) == sentence

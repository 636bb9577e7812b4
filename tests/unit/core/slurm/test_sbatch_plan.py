"""What hedgerow sbatch submits, and what follows on it."""

import subprocess
from pathlib import Path

import pytest

from hedgerow_operator.core.slurm.sbatch_options import parse
from hedgerow_operator.core.slurm.sbatch_plan import (
    SbatchPlan,
    given,
    is_script,
    signal_seconds,
    successor_flags,
    with_added_flags,
    wrapper,
)

SCRIPT = "#!/bin/bash\n#SBATCH -N2 --time=60\n#SBATCH -J mine -H\nsrun python train.py\n"


def planned(words: str = "", script: str = SCRIPT, **variables: str) -> SbatchPlan:
    """The plan of a command line."""
    plan = SbatchPlan(name="train.sh", flags=tuple(words.split()), variables=variables)
    return with_added_flags(plan, parse(plan.flags).flags, script, 30, "key")


def follows(words: str = "", script: str = SCRIPT, task: str = "", **variables: str) -> list[str]:
    """The words of the batch job that follows on number 7."""
    plan = planned(words, script, **variables)
    return successor_flags(plan, parse(plan.flags).flags, script, "7", task)


def test_what_the_command_line_says_counts_over_the_variable_and_that_over_the_script() -> None:
    flags = parse(["-N4"]).flags
    assert given("nodes", flags, SCRIPT, {"SBATCH_NODES": "3"}) == "4"
    assert given("time", flags, SCRIPT, {"SBATCH_TIMELIMIT": "5"}) == "5"
    assert given("time", flags, SCRIPT, {}) == "60"
    assert given("partition", flags, SCRIPT, {}) is None


ADDED = {
    "nobody says anything": (planned(), ("--comment=hedgerow sbatch key", "--no-requeue", "--signal=B:USR1@90"), True),
    "the user has a comment": (planned("--comment=x"), ("--no-requeue", "--signal=B:USR1@90"), True),
    "the user wants to be requeued": (
        planned("--requeue"), ("--comment=hedgerow sbatch key", "--signal=B:USR1@90"), True),
    "the user has a signal": (planned("--signal=TERM@10"), ("--comment=hedgerow sbatch key", "--no-requeue"), False),
    "a variable has one": (planned(SBATCH_SIGNAL="USR2"), ("--comment=hedgerow sbatch key", "--no-requeue"), False),
}  # fmt: skip


@pytest.mark.parametrize("sentence", ADDED)
def test_what_is_added_where(sentence: str) -> None:
    plan, added, own_signal = ADDED[sentence]
    assert (plan.added, plan.own_signal) == (added, own_signal)


@pytest.mark.parametrize(("limit", "seconds"), [(None, 90), (3600.0, 90), (60.0, 45), (10.0, 10)])
def test_of_a_short_time_limit_most_is_left_to_save(limit: float | None, seconds: int) -> None:
    assert signal_seconds(limit, 30) == seconds


def test_the_next_batch_job_is_told_all_that_the_first_was_in_the_order_in_which_it_counts() -> None:
    words = follows("-N4 --partition=gpu")
    assert words[:5] == ["-N2", "--time=60", "-J", "mine", "-N4"]
    assert "--partition=gpu" in words
    assert "--dependency=afternotok:7" in words
    assert "--kill-on-invalid-dep=yes" in words


ALONE = ("-H", "--hold", "-W", "--parsable", "--begin=now+60", "--dependency=afterok:3", "--array=0-3", "-Q")


@pytest.mark.parametrize("option", ALONE)
def test_what_is_about_the_first_alone_is_not_told_again(option: str) -> None:
    assert option not in follows(option)


def test_a_task_of_an_array_goes_on_as_that_task() -> None:
    assert "--array=3" in follows("--array=0-9%2", task="3")


def test_a_variable_counts_over_the_script_for_the_next_too() -> None:
    assert "--time=60" not in follows(SBATCH_TIMELIMIT="5")


def test_what_the_one_before_has_printed_is_not_lost() -> None:
    assert "--open-mode=append" in follows()
    assert "--open-mode=append" not in follows("--open-mode=truncate")


def test_the_script_that_is_submitted_has_the_lines_of_the_users(tmp_path: Path) -> None:
    text = wrapper(SCRIPT, ("/opt/python", "-E"), str(tmp_path), own_signal=False)
    assert "#SBATCH -N2 --time=60\n#SBATCH -J mine -H\n" in text
    assert "#SBATCH" not in wrapper(SCRIPT, ("/opt/python",), str(tmp_path), own_signal=False, header=False)


def run(text: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The wrapper as Slurm would run it."""
    path = folder / "wrapper"
    path.write_text(text)
    return subprocess.run(["sh", str(path), "a b", "c"], capture_output=True, text=True, check=False)


def test_it_runs_the_supervisor_with_the_arguments(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    python.chmod(0o755)
    done = run(wrapper(SCRIPT, (str(python), "-E"), str(tmp_path), own_signal=True), tmp_path)
    assert done.stdout.splitlines() == ["-E", "supervise", str(tmp_path), "a b", "c"]


def test_where_hedgerow_is_missing_the_script_runs_all_the_same(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\necho "$1"\nexit 3\n')
    script.chmod(0o755)
    done = run(wrapper(SCRIPT, (str(tmp_path / "none"),), str(tmp_path), own_signal=True), tmp_path)
    assert (done.returncode, done.stdout) == (3, "a b\n")
    assert "the script runs unwatched" in done.stderr


@pytest.mark.parametrize(("first", "restarts"), [(False, "0"), (True, "1")])
def test_where_hedgerow_is_missing_nothing_is_begun_again_beside_ranks_that_may_live(
    first: bool, restarts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_RESTART_COUNT", restarts)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho begun\n")
    script.chmod(0o755)
    done = run(wrapper(SCRIPT, (str(tmp_path / "none"),), str(tmp_path), own_signal=True, header=first), tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the script is not begun again" in done.stderr


@pytest.mark.parametrize(("own_signal", "code"), [(True, 0), (False, -10)])
def test_the_signal_that_only_we_asked_for_ends_no_script_that_runs_unwatched(
    own_signal: bool, code: int, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nkill -USR1 $$\nexit 0\n")
    script.chmod(0o755)
    text = wrapper(SCRIPT, (str(tmp_path / "none"),), str(tmp_path), own_signal)
    assert run(text, tmp_path).returncode == code


def test_where_the_folder_is_missing_a_sentence_says_so(tmp_path: Path) -> None:
    done = run(wrapper(SCRIPT, ("/bin/true",), str(tmp_path / "none"), own_signal=False), tmp_path)
    assert done.returncode == 1
    assert "--state-dir" in done.stderr


@pytest.mark.parametrize("text", ["echo\n", "#!/bin/sh\r\necho\r\n", "#!/bin/sh\n\0\n", ""])
def test_what_sbatch_would_refuse_is_left_to_it(text: str) -> None:
    assert not is_script(text)

"""Parts of hedgerow sbatch: its own options, the batch job that it is in, the jobs of a script."""

from pathlib import Path
from typing import Any, cast

import click
import msgspec
import pytest

from hedgerow.wire import JobRef, RankReport, Report
from hedgerow_operator.adapters.local.file_jobs import FileJobs
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.state_file import read_job, write_job
from hedgerow_operator.adapters.slurm.steps.desk import Call
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED, SUCCEEDED, TRUE
from hedgerow_operator.api.status import Condition
from hedgerow_operator.cli.slurm.own_job import for_submission, own_job
from hedgerow_operator.cli.slurm.own_options import split
from hedgerow_operator.cli.slurm.step_jobs import StepJobs, untrained
from hedgerow_operator.core.slurm.sbatch_options import words_of
from hedgerow_operator.reconcile.ports import JobKey
from tests.local.builders import with_status


def test_our_options_may_stand_among_those_of_sbatch() -> None:
    words = ["-N2", "--state-dir", "/s", "--no-successor", "-J", "x", "train.sh", "--no-successor"]
    own, line = split(words, {})
    assert (own.state, own.successor) == (Path("/s"), False)
    assert (words_of(line.flags), line.script, line.arguments) == (["-N2", "-J", "x"], "train.sh", ("--no-successor",))


def test_a_checkpoint_directory_of_the_environment_counts() -> None:
    own, _ = split(["train.sh"], {"HEDGEROW_CHECKPOINT_DIRECTORY": "/c"})
    assert own.spec == {"checkpoint": {"directory": "/c"}}


BAD = {
    "a value that is missing": (["--state-dir"], "--state-dir needs a value"),
    "a field of the wrong kind": (["--job-spec=FILE", "a.sh"], "spec.health.stall.minSeconds"),
    "a file that is not there": (["--job-spec=none.yaml", "a.sh"], "none.yaml cannot be read: No such file or"),
}


@pytest.mark.parametrize("sentence", BAD)
def test_refuses(sentence: str, tmp_path: Path) -> None:
    words, expected = BAD[sentence]
    path = tmp_path / "spec.yaml"
    path.write_text("health: {stall: {minSeconds: soon}}\n")
    with pytest.raises(click.ClickException, match=expected):
        split([word.replace("FILE", str(path)) for word in words], {})


def test_a_task_of_an_array_is_called_by_both_numbers() -> None:
    variables = {"SLURM_JOB_ID": "12", "SLURM_ARRAY_JOB_ID": "10", "SLURM_ARRAY_TASK_ID": "4",
                 "SLURM_JOB_NODELIST": "n[1-2]", "SLURMD_NODENAME": "n1"}  # fmt: skip
    own = own_job(variables)
    assert own is not None
    assert (own.job_id, own.task, own.nodes) == ("10_4", "4", ("n1", "n2"))
    assert own_job({}) is None


def test_the_next_batch_job_is_submitted_as_the_first_was() -> None:
    variables = {"PATH": "/bin", "SLURM_CONF": "/c", "SLURM_NTASKS": "4", "SLURM_JOB_GPUS": "0",
                 "SBATCH_TIMELIMIT": "9", "CUDA_VISIBLE_DEVICES": "0", "MINE": "1", "HEDGEROW_STEPS": "/x"}  # fmt: skip
    given = for_submission(variables, {"SBATCH_PARTITION": "gpu"})
    assert given == {"PATH": "/bin", "SLURM_CONF": "/c", "MINE": "1", "SBATCH_PARTITION": "gpu"}
    assert for_submission({"CUDA_VISIBLE_DEVICES": "0"}, {}) == {"CUDA_VISIBLE_DEVICES": "0"}


class Script:
    """The jobs of a script in one batch job."""

    def __init__(self, folder: Path) -> None:
        self.paths = StatePaths(folder)
        self.jobs = FileJobs(self.paths, lambda: 1000.0)
        self.steps = StepJobs(self.paths, self.jobs, {"recovery": {"maxRestarts": 4}})
        self.steps.load()

    def srun(self, *program: str) -> tuple[Call, bool]:
        """A call, and whether it goes on with an earlier one."""
        call = Call(program, ("-N2", *program), cast("Any", None))
        return call, self.steps.add(call)

    def hear(self, call: Call, beats: int = 0, **rank: Any) -> None:
        """One of two launchers of four ranks reports."""
        ranks = [RankReport(0, 0, rank.pop("state", "Running"), beats=beats, **rank)]
        whose = JobRef(call.uid, "default", call.name)
        self.steps.hear(Report(whose, 1, 0, 2, 4, "b", "l", 1, 0.0, 0.0, "Running", ranks=ranks))

    def job(self, name: str) -> Any:
        """As it is stored."""
        return self.steps.job(JobKey("default", name))


def test_a_job_is_called_after_its_program_and_told_apart_by_number(tmp_path: Path) -> None:
    script = Script(tmp_path)
    names = [script.srun(*words)[0].name for words in (("python", "train.py"), ("python", "train.py"), ("hostname",))]
    assert names == ["train", "train-2", "hostname"]


def test_the_job_is_made_when_its_first_launcher_reports(tmp_path: Path) -> None:
    script = Script(tmp_path)
    call, _ = script.srun("python", "train.py")
    assert script.job("train") is None
    script.hear(call)
    job = script.job("train")
    assert (job.metadata.uid, job.spec.workers, job.spec.ranks_per_worker) == (call.uid, 2, 4)
    assert job.spec.slurm.script == "srun -N2 python train.py"


def test_what_has_shown_no_step_is_never_started_anew(tmp_path: Path) -> None:
    script = Script(tmp_path)
    call, _ = script.srun("python", "train.py")
    script.hear(call)
    assert script.job("train").spec.recovery.max_restarts == 0
    assert not script.steps.stepped
    script.hear(call, beats=1)
    assert script.job("train").spec.recovery.max_restarts == 4
    assert script.steps.stepped


def test_where_a_user_says_within_which_time_a_step_has_to_come_it_is_held_to_that_from_the_start() -> None:
    spec = {"health": {"startupTimeoutSeconds": 60}}
    assert untrained(spec) == spec
    assert untrained({})["recovery"] == {"maxRestarts": 0}


def test_a_script_gets_the_exit_code_of_its_rank(tmp_path: Path) -> None:
    script = Script(tmp_path)
    call, _ = script.srun("python", "train.py")
    script.hear(call, state="Exited", exit_code=5)
    call.code = 1
    assert script.steps.exit_code(JobKey("default", "train")) == 5


def test_in_the_next_batch_job_what_was_not_finished_goes_on(tmp_path: Path) -> None:
    first = Script(tmp_path)
    call, goes_on = first.srun("python", "train.py")
    first.hear(call)
    assert not goes_on
    again, goes_on = Script(tmp_path).srun("python", "train.py")
    assert (goes_on, again.uid) == (True, call.uid)


@pytest.mark.parametrize(("condition", "code"), [(FAILED, 1), (SUCCEEDED, 0)])
async def test_what_has_ended_before_the_script_came_to_it_does_not_run_again(
    condition: str, code: int, tmp_path: Path
) -> None:
    first = Script(tmp_path)
    call, _ = first.srun("python", "train.py")
    first.hear(call)
    second, key = Script(tmp_path), JobKey("default", "train")
    job = second.job("train")
    ended = msgspec.structs.replace(job.status, conditions=(Condition(type=condition, status=TRUE, reason="It"),))
    await second.jobs.write_status(job, ended)
    again, goes_on = second.srun("python", "train.py")
    assert (goes_on, again.uid) == (True, call.uid)
    assert second.steps.exit_code(key) == code


def test_what_was_finished_is_run_anew_as_the_script_says(tmp_path: Path) -> None:
    first = Script(tmp_path)
    call, _ = first.srun("python", "prepare.py")
    first.hear(call)
    path = first.paths.object(JobKey("default", "prepare"))
    stored = read_job(path)
    assert stored is not None
    done = Condition(type=SUCCEEDED, status=TRUE, reason=reasons.ALL_RANKS_FINISHED)
    write_job(path, with_status(stored, conditions=(done,)))
    again, goes_on = Script(tmp_path).srun("python", "prepare.py")
    assert not goes_on
    assert again.uid != call.uid

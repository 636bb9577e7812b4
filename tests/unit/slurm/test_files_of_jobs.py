"""What is prepared for a batch job before it is submitted, by hedgerow local and by an operator."""

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.slurm.cluster_files import ClusterFiles
from hedgerow_operator.adapters.slurm.local_files import LocalFiles
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.api.labels import FINALIZER_SLURM
from hedgerow_operator.api.slurm_cluster import SlurmClusterSpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey, Refused
from tests.unit.core.builders import make_job, make_report
from tests.unit.reconcile.fakes import Calls, FakeJobs

KEY = JobKey("ml", "demo")
SPEC = SlurmClusterSpec(
    driver="REST", url="https://slurm.example:6820", user="ml", report_url="https://hedgerow.example/",
    token_directory="/shared/hedgerow")  # fmt: skip


class Store(FakeJobs):
    """reconcile.slurm_jobs.FinalizedJobs over one job."""

    async def set_finalizers(self, job: TrainingJob, finalizers: tuple[str, ...]) -> TrainingJob:
        self.calls.make("set_finalizers")
        metadata = msgspec.structs.replace(job.metadata, finalizers=finalizers)
        self.job = msgspec.structs.replace(job, metadata=metadata)
        return self.job


def slurm_job(script: str = "python train.py", **slurm: Any) -> TrainingJob:
    return make_job({"local": None, "slurm": {"script": script, **slurm}})


async def test_by_hedgerow_local_a_secret_is_readable_for_its_owner_only(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    submission = await LocalFiles(paths).prepare(slurm_job(), 1, ())
    assert stat.S_IMODE(paths.token(KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.placement(KEY, 1).stat().st_mode) == 0o700
    assert paths.token(KEY).read_text().strip() not in submission.script
    assert str(paths.address) in submission.script


async def test_what_was_cancelled_is_known_to_the_next_process(tmp_path: Path) -> None:
    files = LocalFiles(StatePaths(tmp_path))
    await files.note_cancelled(slurm_job(), 2, "17")
    anew = LocalFiles(StatePaths(tmp_path))
    assert [anew.was_cancelled(slurm_job(), 2, number) for number in ("16", "17")] == [False, True]


async def test_lines_that_sbatch_would_refuse_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"spec\.slurm\.script"):
        await LocalFiles(StatePaths(tmp_path)).prepare(
            slurm_job('#!/bin/sh\n#SBATCH --comment="never closed\ntrain'), 1, ()
        )


async def test_by_an_operator_the_job_is_kept_from_being_deleted_before_anything_is_submitted() -> None:
    store = Store(slurm_job(), Calls())
    submission = await ClusterFiles(SPEC, store, ReportTokens()).prepare(slurm_job(), 1, ())
    assert store.job is not None
    assert store.job.metadata.finalizers == (FINALIZER_SLURM,)
    assert submission.directory == "/shared/hedgerow"
    assert "https://hedgerow.example" in submission.script


async def test_its_script_brings_the_token_that_is_believed() -> None:
    store, tokens = Store(slurm_job(), Calls()), ReportTokens()
    built: list[str] = []
    files = ClusterFiles(SPEC, store, tokens)
    places = files._places

    def seen(job: TrainingJob, attempt: int, token: str) -> Any:
        built.append(token)
        return places(job, attempt, token)

    files._places = seen  # type: ignore[method-assign]
    submission = await files.prepare(slurm_job(), 1, ())
    tokens.check(built[0], make_report())
    assert built[0] not in submission.script  # it is not read over a shoulder, either
    assert "/token.part" in submission.script


async def test_a_requeue_is_refused_by_slurmrestd_with_what_to_write() -> None:
    files = ClusterFiles(SPEC, Store(slurm_job(), Calls()), ReportTokens())
    with pytest.raises(Refused, match="slurmrestd has no requeue; write resubmit: NewJob"):
        await files.prepare(slurm_job(resubmit="Requeue"), 1, ())


async def test_by_an_operator_the_runs_of_a_batch_job_are_in_the_job_and_told_by_its_comment() -> None:
    store = Store(slurm_job(resubmit="Requeue"), Calls())
    files = ClusterFiles(msgspec.structs.replace(SPEC, driver="CLI"), store, ReportTokens())
    assert store.job is not None
    submission = await files.prepare(store.job, 1, ())
    assert (files.runs(store.job, 1), "scontrol show job" in submission.script) == ((1,), True)
    await files.add_run(store.job, 1, 1, 3)
    assert (files.runs(store.job, 1), files.runs(store.job, 2)) == ((1, 3), ())
    assert files.comment(store.job, 1, 1, 3) == f"{submission.comment}:1=3"


async def test_a_batch_job_that_has_one_run_has_none_to_tell() -> None:
    store = Store(slurm_job(), Calls())
    files = ClusterFiles(SPEC, store, ReportTokens())
    assert store.job is not None
    submission = await files.prepare(store.job, 1, ())
    assert (files.runs(store.job, 1), "scontrol" in submission.script) == ((), False)


async def test_by_hedgerow_local_a_new_batch_job_begins_its_runs_anew(tmp_path: Path) -> None:
    files, job = LocalFiles(StatePaths(tmp_path)), slurm_job(resubmit="Requeue")
    await files.prepare(job, 1, ())
    await files.add_run(job, 1, 1, 3)
    assert files.runs(job, 1) == (1, 3)
    await files.prepare(job, 1, ())
    assert files.runs(job, 1) == (1,)


async def test_what_an_operator_has_cancelled_is_noted_once_in_the_job() -> None:
    store = Store(slurm_job(), Calls())
    files = ClusterFiles(SPEC, store, ReportTokens())
    assert store.job is not None
    await files.note_cancelled(store.job, 3, "17")
    await files.note_cancelled(store.job, 3, "17")
    assert store.calls.made == ["annotate"]
    assert files.was_cancelled(store.job, 3, "17")
    assert not files.was_cancelled(store.job, 3, "18")

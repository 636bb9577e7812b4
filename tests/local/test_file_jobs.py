"""Job objects as files: what is kept, what may change, what is never overwritten."""

from pathlib import Path

import msgspec
import pytest

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import FileJobs, key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.recovery import RecoverySpec
from hedgerow_operator.api.status import Condition
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import Conflict, Unreachable
from tests.local.builders import local_job, status

KEY = key_of(local_job(Path("/")))


def file_jobs(folder: Path) -> FileJobs:
    return FileJobs(StatePaths(folder), clock=lambda: 1_700_000_000.0)


async def test_a_new_job_gets_what_a_server_would_give_it(tmp_path: Path) -> None:
    stored = file_jobs(tmp_path).apply(local_job(tmp_path))
    metadata = stored.metadata
    assert (metadata.generation, metadata.resource_version, len(metadata.uid)) == (1, "1", 36)
    assert metadata.creation_timestamp == "2023-11-14T22:13:20Z"


async def test_what_is_stored_is_read_back_by_the_next_controller(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    stored = jobs.apply(local_job(tmp_path))
    condition = Condition(
        type="Running",
        status="False",
        reason="on",
        message="12:00:00\nno: yes # ü",
        last_transition_time="2026-01-02T03:04:05Z",
    )
    written = await jobs.write_status(stored, status(attempt=3, conditions=(condition,), step=37))
    assert written.metadata.resource_version == "2"
    again = file_jobs(tmp_path).apply(local_job(tmp_path))
    assert again == written
    assert read_job(StatePaths(tmp_path).object(KEY)) == written


async def test_a_change_that_is_allowed_raises_the_generation_and_keeps_the_status(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    await jobs.write_status(jobs.apply(local_job(tmp_path)), status(attempt=3))
    changed = file_jobs(tmp_path).apply(local_job(tmp_path, recovery=RecoverySpec(max_restarts=2)))
    assert (changed.metadata.generation, changed.status.attempt, changed.spec.recovery.max_restarts) == (2, 3, 2)


async def test_a_change_that_a_server_would_refuse_is_refused(tmp_path: Path) -> None:
    file_jobs(tmp_path).apply(local_job(tmp_path))
    with pytest.raises(StateError, match=r"^spec\.workers: workers cannot change after creation; delete the job"):
        file_jobs(tmp_path).apply(local_job(tmp_path, workers=2))


DAMAGE = {
    "half of it": lambda text: text[: len(text) // 2].rsplit("\n", 1)[0] + "\n  x: [",
    "another kind of text": lambda text: "just words",
    "nothing": lambda text: "",
    "a wrong type": lambda text: text.replace("workers: 1", "workers: many"),
}


@pytest.mark.parametrize("case", DAMAGE)
async def test_a_damaged_file_is_named_and_left_as_it_is(case: str, tmp_path: Path) -> None:
    file_jobs(tmp_path).apply(local_job(tmp_path))
    path = StatePaths(tmp_path).object(KEY)
    damaged = DAMAGE[case](path.read_text())
    path.write_text(damaged)
    with pytest.raises(StateError) as raised:
        file_jobs(tmp_path).apply(local_job(tmp_path))
    assert str(raised.value).startswith(f"{path} is damaged (")
    assert "\n" not in str(raised.value)
    assert path.read_text() == damaged


async def test_a_write_after_somebody_else_wrote_is_a_conflict(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    read = jobs.apply(local_job(tmp_path))
    await jobs.annotate(read, "hedgerow.dev/learned-durations", "{}")
    with pytest.raises(Conflict):
        await jobs.write_status(read, status(attempt=1))


async def test_a_disk_that_refuses_is_unreachable_and_nothing_is_concluded(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    stored = jobs.apply(local_job(tmp_path))
    path = StatePaths(tmp_path).object(KEY)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file where the folder was")
    with pytest.raises(Unreachable, match="cannot be written"):
        await jobs.write_status(stored, status(attempt=1))
    assert await jobs.get(KEY) == stored


async def test_an_interruption_reads_as_suspend_and_is_not_stored(tmp_path: Path) -> None:
    changes: list[TrainingJob] = []
    jobs = FileJobs(StatePaths(tmp_path), clock=lambda: 0.0, on_change=changes.append)
    jobs.apply(local_job(tmp_path))
    jobs.interrupt()
    read = await jobs.get(KEY)
    assert read is not None
    assert read.spec.suspend
    await jobs.write_status(read, status(attempt=1))
    assert [job.spec.suspend for job in changes] == [False, False]
    stored = read_job(StatePaths(tmp_path).object(KEY))
    assert stored is not None
    assert (stored.spec.suspend, stored.status.attempt) == (False, 1)


async def test_a_deleted_job_is_gone(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    stored = jobs.apply(local_job(tmp_path))
    await jobs.delete(stored)
    await jobs.delete(stored)
    assert await jobs.get(KEY) is None
    assert read_job(StatePaths(tmp_path).object(KEY)) is None


async def test_a_uid_leads_to_its_job_only(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    stored = jobs.apply(local_job(tmp_path))
    assert jobs.key_of_uid(stored.metadata.uid) == KEY
    assert jobs.key_of_uid("another") is None


def test_labels_follow_the_manifest_and_annotations_of_ours_stay(tmp_path: Path) -> None:
    jobs = file_jobs(tmp_path)
    job = local_job(tmp_path)
    jobs.apply(msgspec.structs.replace(job, metadata=msgspec.structs.replace(job.metadata, annotations={"ours": "1"})))
    labelled = msgspec.structs.replace(job, metadata=msgspec.structs.replace(job.metadata, labels={"team": "a"}))
    again = file_jobs(tmp_path).apply(labelled)
    assert (again.metadata.labels, again.metadata.annotations) == ({"team": "a"}, {"ours": "1"})
    assert again.metadata.generation == 1


async def test_what_is_learned_does_not_bring_back_on_a_screen_the_figures_that_were_stored(tmp_path: Path) -> None:
    shown: list[int | None] = []
    jobs = FileJobs(StatePaths(tmp_path), lambda: 0.0, on_change=lambda changed: shown.append(changed.status.step))
    stored = await jobs.write_status(jobs.apply(local_job(tmp_path)), status(step=2))
    heard_of = 4
    shown.append(heard_of)
    annotated = await jobs.annotate(stored, "hedgerow.dev/learned-durations", "{}")
    await jobs.write_status(annotated, status(step=5))
    assert shown == [None, 2, heard_of, 5]

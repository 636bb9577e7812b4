"""Placements as real processes: started once, found again, stopped, killed, never two."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hedgerow_operator.adapters.local import processes
from hedgerow_operator.adapters.local import runtime as runtime_module
from hedgerow_operator.adapters.local.file_jobs import FileJobs, key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import Identity, Member, identify, is_alive, members, send_signal
from hedgerow_operator.adapters.local.records import read_record, write_record
from hedgerow_operator.adapters.local.runtime import LocalRuntime
from hedgerow_operator.api.recovery import RecoverySpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_RUNNING, PlacementSeen
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable
from tests.local.builders import local_job, with_status

QUICK = RecoverySpec(grace_seconds=1)


class World:
    """A state directory with one job of two workers, and the runtime of a controller that can be replaced."""

    def __init__(self, folder: Path) -> None:
        self.paths = StatePaths(folder / "state")
        self.job = with_status(
            FileJobs(self.paths, time.time).apply(local_job(folder, workers=2, recovery=QUICK)), attempt=1, placement=1
        )
        self.changed: list[JobKey] = []
        self.runtime = self.controller()

    def controller(self) -> LocalRuntime:
        return LocalRuntime(self.paths, time.time, self.changed.append)

    def launchers(self) -> list[Member]:
        return [member for member in members(self.job.metadata.uid) if is_launcher(member)]

    async def placement(self) -> PlacementSeen:
        (seen,) = await self.runtime.placements(self.job)
        return seen


def is_launcher(member: Member) -> bool:
    return b"hedgerow-" in Path(f"/proc/{member.identity.pid}/cmdline").read_bytes().split(b"\0")[2]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    yield world
    await world.runtime.kill(world.job)
    world.runtime.close()


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


async def gone(world: World, job: TrainingJob) -> None:
    deadline = time.monotonic() + 60
    while await world.runtime.placements(job):
        assert time.monotonic() < deadline, "the placement did not go"
        await asyncio.sleep(0.05)


async def test_a_placement_is_one_launcher_a_worker_and_creating_it_again_adds_none(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    await world.runtime.create(world.job, 1, ("this-machine",))
    seen = await world.placement()
    assert [(worker.index, worker.phase) for worker in seen.workers] == [(0, WORKER_RUNNING), (1, WORKER_RUNNING)]
    assert (seen.attempt, seen.removing, seen.ended) == (1, False, "")
    assert sorted(member.worker for member in world.launchers()) == [0, 1]


async def test_removing_ends_the_launchers_and_then_the_placement_is_gone(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    await asyncio.sleep(0.5)  # until Python has started and handles TERM
    await world.runtime.remove(world.job, 1, ())
    await gone(world, world.job)
    assert members(world.job.metadata.uid) == []
    assert world.changed  # told by the kernel, not by polling
    assert [path.read_text() for path in sorted(world.paths.root.glob("*/*/*/*.exit"))] == ["143\n", "143\n"]


async def test_the_next_controller_adopts_what_runs(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    before = {member.identity for member in world.launchers()}
    world.runtime.close()
    world.runtime = world.controller()
    await world.runtime.create(world.job, 1, ())
    assert [worker.phase for worker in (await world.placement()).workers] == [WORKER_RUNNING] * 2
    await until(lambda: len(world.launchers()) == 2)
    assert before <= {member.identity for member in world.launchers()}


async def test_a_controller_killed_between_starting_and_recording_a_worker_does_not_start_it_twice(
    world: World,
) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    path = world.paths.record(key_of(world.job), 1)
    record = read_record(path)
    assert record is not None
    for launchers in ({0: record.launchers[0]}, {}):
        write_record(path, type(record)(**{**record_fields(record), "launchers": launchers}))
        world.runtime.close()
        world.runtime = world.controller()
        assert [worker.phase for worker in (await world.placement()).workers] == [WORKER_RUNNING] * 2
        assert len(world.launchers()) == 2


async def test_a_creation_that_was_cut_short_is_completed(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    path = world.paths.record(key_of(world.job), 1)
    record = read_record(path)
    assert record is not None
    write_record(path, type(record)(**{**record_fields(record), "launchers": {0: record.launchers[0]}}))
    world.runtime.close()
    world.runtime = world.controller()
    send_signal([m.identity for m in members(world.job.metadata.uid) if m.worker == 1], signal.SIGKILL)
    await until(lambda: {m.worker for m in members(world.job.metadata.uid)} == {0})
    assert [worker.phase for worker in (await world.placement()).workers] == [WORKER_RUNNING] * 2
    await until(lambda: len(world.launchers()) == 2)


async def test_a_launcher_that_was_killed_is_a_failed_worker_and_is_not_started_again(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    send_signal([m.identity for m in world.launchers() if m.worker == 1], signal.SIGKILL)
    await until(lambda: bool(world.changed))
    workers = (await world.placement()).workers
    assert [(worker.phase, worker.exit_code) for worker in workers] == [(WORKER_RUNNING, None), (WORKER_FAILED, 137)]
    assert workers[1].exit_reason == "its launcher was ended by signal 9"
    assert (await world.placement()).workers[1].phase == WORKER_FAILED


async def test_a_launcher_that_cannot_start_is_quoted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever the launcher is, it is no Python archive: the interpreter itself says so.
    (broken := world.paths.root / "hedgerow-broken.pyz").write_text("no launcher\n")
    monkeypatch.setattr(world.runtime, "_archive", broken)
    await world.runtime.create(world.job, 1, ())
    await until(lambda: members(world.job.metadata.uid) == [])
    worker = (await world.placement()).workers[0]
    assert (worker.phase, worker.exit_code) == (WORKER_FAILED, 1)
    assert "SyntaxError" in worker.last_words
    assert "\n" not in worker.last_words


async def test_a_placement_whose_processes_are_all_dead_stays_until_it_is_removed(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await world.runtime.kill(world.job)
    await until(lambda: members(world.job.metadata.uid) == [])
    assert (await world.placement()).ended == WORKER_FAILED
    await world.runtime.remove(world.job, 1, ())
    assert await world.runtime.placements(world.job) == ()


async def test_what_ignores_the_polite_request_is_killed_after_the_grace(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_module, "_LAUNCHER_SECONDS", 0.2)
    await world.runtime.create(world.job, 1, ())
    with stubborn(world.job) as stray:
        await until(lambda: len(members(world.job.metadata.uid)) == 5)
        await world.runtime.remove(world.job, 1, ())
        await asyncio.sleep(0.3)
        assert (await world.placement()).removing
        assert stray.poll() is None
        await asyncio.sleep(1.0)
        await world.runtime.remove(world.job, 1, ())
        await gone(world, world.job)
        assert stray.wait(30) == -signal.SIGKILL


async def test_a_process_that_escaped_its_dead_launcher_keeps_the_placement_alive(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    with stubborn(world.job) as stray:
        await until(lambda: stray.pid in {m.identity.pid for m in members(world.job.metadata.uid)})
        send_signal(
            [m.identity for m in members(world.job.metadata.uid) if m.identity.pid != stray.pid], signal.SIGKILL
        )
        await until(lambda: len(members(world.job.metadata.uid)) == 1)
        await world.runtime.remove(world.job, 1, ())
        assert [worker.phase for worker in (await world.placement()).workers] == [WORKER_RUNNING, WORKER_FAILED]
        stray.kill()
    assert await world.runtime.placements(world.job) == ()


async def test_a_forced_worker_is_killed_at_once(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    with stubborn(world.job) as stray:
        await until(lambda: len(members(world.job.metadata.uid)) == 5)
        await world.runtime.remove(world.job, 1, ("worker-0",))
        assert stray.wait(30) == -signal.SIGKILL


async def test_a_record_of_another_boot_names_nobody(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await world.runtime.kill(world.job)
    await until(lambda: members(world.job.metadata.uid) == [])
    path = world.paths.record(key_of(world.job), 1)
    record = read_record(path)
    assert record is not None
    mine = identify(os.getpid())
    assert mine is not None
    fields = {**record_fields(record), "launchers": {0: mine, 1: mine}, "boot": "the boot before"}
    write_record(path, type(record)(**fields))
    assert (await world.placement()).ended == WORKER_FAILED


async def test_a_folder_that_is_gone_is_refused_with_a_sentence(world: World, tmp_path: Path) -> None:
    job = with_status(FileJobs(world.paths, time.time).apply(local_job(tmp_path / "gone", name="lost")), placement=1)
    with pytest.raises(Refused, match=r"worker 0 cannot be started: there is no directory .*gone"):
        await world.runtime.create(job, 1, ())


async def test_a_number_given_to_another_process_is_never_signalled() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        real = identify(other.pid)
        assert real is not None
        assert is_alive(real)
        former = Identity(real.pid, real.start - 1)
        assert not is_alive(former)
        send_signal([former], signal.SIGKILL)
        assert other.poll() is None
        other.communicate(b"\n")
        assert other.returncode == 0


async def test_nothing_is_started_any_more_once_a_job_is_killed(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    started = asyncio.create_task(world.runtime.create(world.job, 2, ()))
    assert await world.runtime.kill(world.job) == []
    with contextlib.suppress(Unreachable):
        await started
    with pytest.raises(Unreachable, match="is being killed"):
        await world.runtime.create(world.job, 3, ())
    assert members(world.job.metadata.uid) == []


@pytest.mark.parametrize(
    "put",
    [
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("9" * 5000),
        lambda path: path.write_text("\u00b2"),
        lambda path: path.write_text(""),
        os.mkfifo,
        os.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
    ],
    ids=["no text", "digits without end", "no digit", "nothing", "a pipe", "a folder", "an endless device"],
)
async def test_whatever_lies_where_an_exit_code_should_be_the_worker_has_failed(
    world: World, put: Callable[[Path], object]
) -> None:
    await world.runtime.create(world.job, 1, ())
    await world.runtime.kill(world.job)
    path = world.paths.exit_code(key_of(world.job), 1, 0)
    path.unlink(missing_ok=True)
    put(path)
    worker = (await world.placement()).workers[0]
    assert (worker.phase, worker.exit_code, worker.exit_reason) == (WORKER_FAILED, None, "its launcher is gone")


async def test_a_pipe_in_place_of_a_log_is_refused_and_holds_nobody_up(world: World) -> None:
    log = world.paths.log(key_of(world.job), 1, 0)
    log.parent.mkdir(parents=True)
    os.mkfifo(log)
    with pytest.raises(Unreachable, match="worker 0 cannot be started"):
        await world.runtime.create(world.job, 1, ())


async def test_a_process_is_seen_at_every_moment_of_its_start(world: World) -> None:
    variables = {**os.environ, "HEDGEROW_JOB_UID": world.job.metadata.uid, "HEDGEROW_PLACEMENT": "1"}
    script = 'I=$((${I:-0}+1)); export I; [ $I -ge 250 ] && exec sleep 60; exec /bin/sh -c "$0" "$0"'
    with subprocess.Popen(["/bin/sh", "-c", script, script], env=variables) as process:
        unseen = looks = 0
        while not Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(b"sleep"):
            unseen += process.pid not in {member.identity.pid for member in members(world.job.metadata.uid)}
            looks += 1
        process.kill()
    assert (unseen, looks > 1) == (0, True)


def test_a_start_that_takes_long_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "exe").symlink_to("/bin/sh")
    (folder / "environ").touch()
    (folder / "stat").write_text(f"7 (sh) R {' '.join(['0'] * 49)}\n")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 1000:
            (folder / "environ").write_bytes(b"HEDGEROW_JOB_UID=u\0")

    monkeypatch.setattr(processes, "_PROC", tmp_path)
    monkeypatch.setattr(time, "sleep", wait)
    assert members("u") == [Member(Identity(7, 0), 0, 0, is_rank=False)]


def test_a_process_without_variables_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["/bin/sh", "-c", "echo begun; read word"]
    with subprocess.Popen(words, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert Path(f"/proc/{process.pid}/environ").read_bytes() == b""
        monkeypatch.setattr(processes, "_pids", lambda: iter([process.pid]))
        monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("it was waited for"))
        assert members("u") == []


def stubborn(job: TrainingJob) -> subprocess.Popen[bytes]:
    """A process of worker 0 that looks like a rank and ignores TERM."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    variables = {
        **os.environ,
        "HEDGEROW_JOB_UID": job.metadata.uid,
        "HEDGEROW_PLACEMENT": "1",
        "HEDGEROW_WORKER": "0",
        "HEDGEROW_ATTEMPT": "1",
    }
    return subprocess.Popen([sys.executable, "-c", code], env=variables)


def record_fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__}  # type: ignore[attr-defined]


async def test_what_happens_to_the_record_of_a_running_placement_does_not_hide_it(world: World) -> None:
    await world.runtime.create(world.job, 1, ())
    await until(lambda: len(world.launchers()) == 2)
    world.paths.record(key_of(world.job), 1).write_text("{")
    assert [worker.phase for worker in (await world.placement()).workers] == [WORKER_RUNNING] * 2
    await world.runtime.remove(world.job, 1, ("worker-0", "worker-1"))
    await gone(world, world.job)
    assert members(world.job.metadata.uid) == []

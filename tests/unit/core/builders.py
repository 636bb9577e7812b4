"""Short ways to say what is seen: jobs, ranks, reports, placements."""

from typing import Any

from hedgerow import wire
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.seen import WORKER_RUNNING, Heard, PlacementSeen, WorkerSeen

UID = "11111111-2222-3333-4444-555555555555"


def make_job(
    spec: dict[str, Any] | None = None, status: TrainingJobStatus | None = None, **changes: Any
) -> TrainingJob:
    """A local job of one worker with four ranks, with the given parts of the spec in place of the usual ones."""
    fields = {
        "workers": 1, "ranksPerWorker": 4, "local": {"command": ["python", "train.py"]},
        "checkpoint": {"directory": "/checkpoints"}, **(spec or {}), **changes,
    }
    job = training_job({"metadata": {"name": "demo", "namespace": "ml", "uid": UID, "generation": 1}, "spec": fields})
    return job if status is None else TrainingJob(metadata=job.metadata, spec=job.spec, status=status)


def make_rank(rank: int, **fields: Any) -> wire.RankReport:
    """A running rank at step 37 that made progress a moment ago; activity fields go to its Activity."""
    activity_names = set(wire.Activity.__dataclass_fields__)
    activity = wire.Activity(**{name: fields.pop(name) for name in list(fields) if name in activity_names})
    usual: dict[str, Any] = {
        "local_rank": rank, "state": wire.RANK_RUNNING, "pid": 1000 + rank, "beats": 37, "step": 37,
        "phase": wire.PHASE_STEP, "progress_age": 0.1, "source": "Library", "step_seconds": 0.1, "activity": activity,
    }
    return wire.RankReport(rank=rank, **{**usual, **fields})


def frozen(rank: int, age: float = 30.0, **fields: Any) -> wire.RankReport:
    """A rank that has not moved for ``age`` seconds: no progress, no CPU, no bytes, the same stack."""
    usual = {"progress_age": age, "idle_seconds": age, "io_idle_seconds": age, "stack_unchanged_seconds": age - 10,
             "process_state": "S", "wait_channel": "futex"}
    return make_rank(rank, **{**usual, **fields})


def exited(rank: int, code: int | None = 1, ago: float = 5.0, **fields: Any) -> wire.RankReport:
    """A rank whose process has ended."""
    return make_rank(rank, state=wire.RANK_EXITED, exit_code=code, exit_age=ago, **fields)


def make_report(*ranks: wire.RankReport, worker: int = 0, workers: int = 1, **fields: Any) -> wire.Report:
    """A report of attempt 1 with these ranks."""
    usual: dict[str, Any] = {
        "placement": 1, "attempt": 1, "boot": "boot", "launcher": f"launcher-{worker}", "seq": 7, "sent_monotonic": 1.0,
        "sent_wall": 1.0, "stage": wire.STAGE_RUNNING, "free_port": 20000, "address": f"10.0.0.{worker + 1}",
        "peer_address": f"10.0.0.{worker + 1}:9", "nonce": "nonce", "ranks_per_worker": max(1, len(ranks)),
    }
    return wire.Report(
        job=wire.JobRef(UID, "ml", "demo"), worker=worker, workers=workers, ranks=list(ranks), **{**usual, **fields},
    )


def make_worker(index: int = 0, **fields: Any) -> WorkerSeen:
    """A running worker on a node of its own."""
    usual: dict[str, Any] = {"name": f"demo-1-{index}", "phase": WORKER_RUNNING, "node": f"node{index + 1}",
                             "running_seconds": 100.0}
    return WorkerSeen(index=index, **{**usual, **fields})


def make_gang(*ranks: wire.RankReport, workers: tuple[WorkerSeen, ...] | None = None, age: float = 0.5,
              silent: tuple[int, ...] = ()) -> Gang:
    """A gang of attempt 1 with one rank a worker; silent workers have no ranks that are heard."""
    count = len(ranks) + len(silent)
    seen = tuple(make_worker(index) for index in range(count)) if workers is None else workers
    indexes = [index for index in range(count) if index not in silent]
    launchers = {
        index: Heard(report=make_report(rank, worker=index, workers=count), age=age)
        for index, rank in zip(indexes, ranks, strict=True)
    }
    views = tuple(
        RankView(rank=rank.rank, worker=index, node=f"node{index + 1}", age=age, own=rank)
        for index, rank in zip(indexes, ranks, strict=True)
    )
    return Gang(workers=count, ranks_per_worker=1, attempt=1, launchers=launchers, fresh=frozenset(launchers),
                ranks=views, placement=PlacementSeen(attempt=1, workers=seen))


def stack(function: str, line: int, file: str = "/app/train.py") -> str:
    """A faulthandler dump whose main thread stands there, inside the threading module."""
    return (
        "Thread 0x00007f01 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 324 in wait\n'
        "Current thread 0x00007f02 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 168 in acquire\n'
        f'  File "{file}", line {line} in {function}\n'
        f'  File "{file}", line 99 in main\n'
    )

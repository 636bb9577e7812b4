"""What a placement of local processes looks like to the decisions. Pure."""

from collections.abc import Callable, Mapping, Set
from types import MappingProxyType

from hedgerow_operator.adapters.local.launch import LOOPBACK
from hedgerow_operator.adapters.local.records import Record
from hedgerow_operator.core.last_words import last_words
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_RUNNING, WORKER_SUCCEEDED, PlacementSeen, WorkerSeen

_NOTHING: Mapping[int, str] = MappingProxyType({})
_SIGNALLED = 128  # POSIX shells: exit code of a process that a signal ended is 128 + its number


def placement_seen(
    record: Record,
    alive: Set[int],
    exit_codes: Mapping[int, int],
    now: float,
    ended: Mapping[int, str] = _NOTHING,
    output: Callable[[int], str] = lambda worker: "",
) -> PlacementSeen:
    """alive: workers of which any process lives. exit_codes: of launchers that have ended. now: wall time.
    ended: why we ended the launcher of a worker ourselves. output: the end of what a worker has printed; asked only
    for workers that failed.
    """
    age = max(0.0, now - record.created)
    workers = tuple(
        _worker(record, index, index in alive, exit_codes.get(index), age, ended.get(index, ""), output)
        for index in range(record.workers)
    )
    phases = {worker.phase for worker in workers}
    result = "" if alive else (WORKER_SUCCEEDED if phases == {WORKER_SUCCEEDED} else WORKER_FAILED)
    return PlacementSeen(
        attempt=record.attempt, workers=workers, removing=record.asked is not None, ended=result, age_seconds=age
    )


def _worker(
    record: Record, index: int, alive: bool, code: int | None, age: float, why: str, output: Callable[[int], str]
) -> WorkerSeen:
    phase = WORKER_RUNNING if alive else WORKER_SUCCEEDED if code == 0 else WORKER_FAILED
    # No node: there is no other machine to go to, so this one must never be avoided.
    return WorkerSeen(
        index=index,
        name=f"worker-{index}",
        phase=phase,
        address=LOOPBACK,
        terminating=record.asked is not None,
        running_seconds=age if alive else None,
        exit_code=None if alive else code,
        exit_reason=(why or _reason(code)) if phase == WORKER_FAILED else "",
        last_words=last_words(output(index)) if phase == WORKER_FAILED and not why else "",
    )


def _reason(code: int | None) -> str:
    if code is None:
        return "its launcher is gone"
    return f"its launcher was ended by signal {code - _SIGNALLED}" if code > _SIGNALLED else "its launcher ended"

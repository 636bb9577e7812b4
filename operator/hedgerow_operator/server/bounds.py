"""What a report may say at most: numbers and names that no launcher of ours exceeds, and that every later sum bears."""

from collections.abc import Iterable, Iterator, Mapping

from hedgerow.wire import MAX_PHASE_NAME, MAX_PHASES, MAX_SECONDS, RankReport, Report
from hedgerow_operator.api.spec import MAX_RANKS_PER_WORKER, MAX_WORKERS
from hedgerow_operator.server.collective_bounds import excess_of_collectives

# File systems keep times in at most 64 bits of seconds, and counts and sizes fit into as many.
MAX_COUNT = 2**64
# Beyond the bucket of MAX_SECONDS (wire.DURATION_GROWTH).
MAX_BUCKET = 256

_OF_REPORT = ("placement", "attempt", "seq", "free_port", "master_port", "memory_limit_bytes", "unread_output_bytes")
_OF_RANK = ("pid", "exit_code", "exit_signal", "beats", "step", "memory_bytes")
_OF_CHECKPOINT = ("step", "size")
_SECONDS_OF_RANK = ("progress_age", "exit_age", "step_seconds", "collectives_age", "output_unread_age")
_SECONDS_OF_ACTIVITY = ("cpu_seconds", "cpu_share", "idle_seconds", "io_idle_seconds", "stack_unchanged_seconds")
_SECONDS_OF_COMMUNICATION = ("seconds_per_step", "share", "age", "bus_gigabytes_per_second")


def excess(report: Report) -> str | None:
    """What the report says that cannot be, in one sentence, or None."""
    return excess_of_place(report) or next(_excesses(report), None)


def excess_beside_numbers(report: Report) -> str | None:
    """As ``excess``, of a report whose numbers and names are known to be within bounds."""
    return excess_of_place(report) or next(_of_candidates(report), None)


def excess_of_place(report: Report) -> str | None:
    """Whether it can be of the worker that it names."""
    if not (1 <= report.workers <= MAX_WORKERS and 1 <= report.ranks_per_worker <= MAX_RANKS_PER_WORKER):
        return (
            f"workers must be 1 to {MAX_WORKERS} and ranks_per_worker 1 to {MAX_RANKS_PER_WORKER}, "
            f"not {_shown(report.workers)} and {_shown(report.ranks_per_worker)}"
        )
    if not 0 <= report.worker < report.workers:
        return f"worker must be 0 to {report.workers - 1}, not {_shown(report.worker)}"
    if len(report.ranks) > report.ranks_per_worker:
        return f"it names {len(report.ranks)} ranks where a worker has {report.ranks_per_worker}"
    first = report.worker * report.ranks_per_worker
    for rank in report.ranks:
        if not 0 <= rank.local_rank < report.ranks_per_worker or rank.rank != first + rank.local_rank:
            named = f"rank {_shown(rank.rank)} with local_rank {_shown(rank.local_rank)}"
            return f"{named} is none of worker {report.worker}"
    if len({rank.rank for rank in report.ranks}) < len(report.ranks):
        return "it names a rank twice"
    return None


def _excesses(report: Report) -> Iterator[str]:
    yield from _in_seconds("sent_monotonic", report.sent_monotonic)
    yield from _in_seconds("dump_age", report.dump_age)
    yield from _in_seconds("sent_wall", report.sent_wall, MAX_COUNT)
    yield from _counts(report, _OF_REPORT)
    yield from _of_durations(report.durations)
    for rank in report.ranks:
        yield from _of_rank(rank)
    yield from _of_candidates(report)


def _of_candidates(report: Report) -> Iterator[str]:
    for candidate in report.checkpoints.candidates if report.checkpoints else ():
        yield from _in_seconds("written of a checkpoint", candidate.written, MAX_COUNT)
        yield from _counts(candidate, _OF_CHECKPOINT)


def _of_rank(rank: RankReport) -> Iterator[str]:
    yield from _counts(rank, _OF_RANK)
    if len(rank.phase) > MAX_PHASE_NAME:
        yield f"the phase of rank {rank.rank} has {len(rank.phase)} characters; at most {MAX_PHASE_NAME} are allowed"
    for told, names in ((rank, _SECONDS_OF_RANK), (rank.activity, _SECONDS_OF_ACTIVITY)):
        for name in names:
            yield from _in_seconds(name, getattr(told, name))
    if rank.collectives is not None and (beyond := excess_of_collectives(rank.collectives)) is not None:
        yield f"collectives of rank {rank.rank} {beyond}"
    if rank.communication is not None:
        for name in _SECONDS_OF_COMMUNICATION:
            yield from _in_seconds(f"{name} of communication", getattr(rank.communication, name))


def _of_durations(durations: Mapping[str, Mapping[int, int]]) -> Iterator[str]:
    if len(durations) > MAX_PHASES:
        yield f"durations has {len(durations)} phases; at most {MAX_PHASES} are allowed"
    for phase, histogram in durations.items():
        if len(phase) > MAX_PHASE_NAME:
            yield f"a phase in durations has {len(phase)} characters; at most {MAX_PHASE_NAME} are allowed"
        if histogram and not 0 <= min(histogram) <= max(histogram) <= MAX_BUCKET:
            yield f"durations has a bucket that is not 0 to {MAX_BUCKET}"
        if histogram and not 0 <= min(histogram.values()) <= max(histogram.values()) < MAX_COUNT:
            yield "durations has a count that is negative or does not fit into 64 bits"


def _in_seconds(name: str, seconds: float | None, most: float = MAX_SECONDS) -> Iterator[str]:
    """NaN is within no bounds."""
    if seconds is not None and not -most <= seconds <= most:
        yield f"{name} must be a number within {most:.3g} on either side of 0"


def _counts(told: object, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        number = getattr(told, name)
        if number is not None and not -MAX_COUNT < number < MAX_COUNT:
            yield f"{name} does not fit into 64 bits"


def _shown(number: int) -> str:
    """Numbers of thousands of digits are no help to anybody, and cost much to write."""
    return str(number) if -MAX_COUNT < number < MAX_COUNT else "a number beyond 64 bits"

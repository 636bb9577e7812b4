"""Plain values of a dump, of any version and naming generation, to a RankDump. Missing fields stay missing.

Field names: torch/csrc/distributed/c10d/FlightRecorder.hpp (collective_seq_id, process_group, pg_config, ...) and, for
dumps before version 2, ProcessGroupNCCL's trace (seq_id, pg_id).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow_operator.core.attribution.recorder.dump import COMPLETED, NOT_JOINED, RankDump, Transfer, Work
from hedgerow_operator.core.attribution.recorder.fields import integer, items, strings, table, text
from hedgerow_operator.core.attribution.recorder.groups import Groups
from hedgerow_operator.core.attribution.recorder.transfers import is_transfer, transfer_of

_PREFIX = "nccl:"


class NotADumpError(ValueError):
    """The values are no flight-recorder dump; the message says why."""


def read_dump(values: object, rank: int) -> RankDump:
    """The dump of a rank. Raises NotADumpError."""
    whole: Mapping[Any, Any] = {"entries": values} if isinstance(values, list) else table(values)
    entries = whole.get("entries")
    if not isinstance(entries, Sequence) or isinstance(entries, str | bytes):
        raise NotADumpError("it holds no list of entries")
    groups = Groups(whole.get("pg_config"))
    reached: dict[str, int] = {}
    first: dict[str, Work] = {}
    transfers: list[Transfer] = []
    count = 0
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        count += 1
        group = groups.of(entry)
        if group is None:
            continue
        if is_transfer(entry):
            if not _is_complete(entry):
                transfers += transfer_of(entry, group, rank)
        else:
            _note_collective(entry, group.key, reached, first)
    return RankDump(
        rank=rank, groups=groups.known(), reached=reached, first=first, transfers=tuple(transfers), entries=count
    )


def _note_collective(entry: Mapping[Any, Any], group: str, reached: dict[str, int], first: dict[str, Work]) -> None:
    seq = entry.get("collective_seq_id")
    if type(seq) is not int:
        seq = integer(entry.get("seq_id"))
        if seq is None:
            return
    if seq > reached.get(group, NOT_JOINED):
        reached[group] = seq
    if not _is_complete(entry) and (group not in first or seq < first[group].seq):
        first[group] = _work(entry, group, seq)


def _is_complete(entry: Mapping[Any, Any]) -> bool:
    state = entry.get("state")
    if isinstance(state, str):
        return state == COMPLETED
    return integer(entry.get("time_discovered_completed_ns")) is not None


def _work(entry: Mapping[Any, Any], group: str, seq: int) -> Work:
    return Work(
        group=group,
        seq=seq,
        op=text(entry.get("profiling_name")).removeprefix(_PREFIX),
        order=integer(entry.get("record_id", entry.get("id"))),
        state=text(entry.get("state")),
        input_sizes=_sizes(entry.get("input_sizes")),
        output_sizes=_sizes(entry.get("output_sizes")),
        input_dtypes=strings(entry.get("input_dtypes")),
        output_dtypes=strings(entry.get("output_dtypes")),
    )


def _sizes(value: object) -> tuple[tuple[int, ...], ...] | None:
    shapes = items(value)
    if shapes is None:
        return None
    return tuple(tuple(size for size in items(shape) or () if type(size) is int) for shape in shapes)

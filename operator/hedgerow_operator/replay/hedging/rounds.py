"""Recorded rounds: in each, every provider was given the same request at the same moment (GPUHedge's traces)."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hedgerow_operator.api.times import parse_time


class Course(Struct, frozen=True, kw_only=True):
    """How one provider took the request, in seconds since it was given to it.

    answer_seconds: when the client had the answer; infinite: never. valid: whether it was one. queue_seconds: until its
    worker began; None: nobody knows. execution_seconds: what the provider says that the worker took.
    """

    answer_seconds: float
    valid: bool
    queue_seconds: float | None = None
    execution_seconds: float | None = None
    refused: bool = False


class Round(Struct, frozen=True, kw_only=True):
    """number: as recorded. began_at: epoch seconds."""

    number: int
    began_at: float
    courses: Mapping[str, Course]


def read_rounds(lines: Iterable[bytes]) -> Iterator[Round]:
    """The rounds of a JSONL file, other kinds of rows left out. Raises ValueError naming the line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
            if isinstance(row, dict) and row.get("kind", "round") == "round" and "providers" in row:
                yield _round(row)
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"line {number} is no round ({type(error).__name__}: {error})") from None


def _round(row: Mapping[str, Any]) -> Round:
    return Round(
        number=int(row["round_id"]),
        began_at=parse_time(str(row["started"])),
        courses={name: _course(name, entry) for name, entry in row["providers"].items()},
    )


def _course(name: str, entry: Mapping[str, Any]) -> Course:
    metrics = entry.get("metrics") or {}
    wall = float(entry["wall_s"])
    answered = entry.get("state") == "COMPLETED"
    queue, execution = None, None
    if "runpod_delay_ms" in metrics:
        queue, execution = metrics["runpod_delay_ms"] / 1000, metrics["runpod_execution_ms"] / 1000
    elif "cerebrium_run_time_ms" in metrics:
        execution = metrics["cerebrium_run_time_ms"] / 1000
        queue = wall - execution
    return Course(
        answer_seconds=wall if answered else math.inf,
        valid=answered and entry.get("valid") is True,
        queue_seconds=queue,
        execution_seconds=execution,
        refused=entry.get("state") == "SUBMIT_FAILED",
    )

"""Finds and reads the flight-recorder dumps of a directory: one file a rank (pickle or JSON), or one object for all."""

import re
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.plain_pickle import MAX_BYTES, RefusedPickleError, loads
from hedgerow.regular_file import open_regular
from hedgerow_operator.core.attribution.recorder.dump import RankDump
from hedgerow_operator.core.attribution.recorder.read import NotADumpError, read_dump

# PyTorch appends the rank to a prefix that may hold the host's name: nccl_trace_rank_node02_5.
_RANK = re.compile(r"(\d{1,7})(?:\.(?:json|pkl|pickle|pt|bin|dump))?$")
_LOOKED_FOR = "files named like nccl_trace_rank_3, pickled or JSON"
_PIECE = 1 << 20
_JSON = (b"{", b"[")
_PICKLE = b"\x80"


class NoDumpsError(ValueError):
    """There is nothing to read; the message is one sentence for people."""


def read_dumps(place: Path) -> tuple[list[RankDump], list[str]]:
    """The dumps in a directory (or one file), by rank, and a note for each file that looks like one and cannot be read.

    A rank's own file goes before an object of all ranks. Raises NoDumpsError.
    """
    found: dict[int, RankDump] = {}
    notes: list[str] = []
    shared: list[dict[int, RankDump]] = []
    for file in _candidates(place):
        try:
            one, many = _read(file)
        except (NotADumpError, RefusedPickleError, msgspec.DecodeError, OSError) as error:
            notes.append(f"{file.name} cannot be read: {_why(error)}")
            continue
        found.update(one)
        shared.append(many)
    for many in shared:
        found = {**many, **found}
    if not found:
        raise NoDumpsError(_nothing(place, notes))
    return [found[rank] for rank in sorted(found)], notes


def rank_of(name: str) -> int | None:
    """The rank in a file's name: the integer that it ends in."""
    match = _RANK.search(name)
    return int(match[1]) if match else None


def _candidates(place: Path) -> list[Path]:
    try:
        files = sorted(file for file in place.iterdir() if file.is_file()) if place.is_dir() else [place]
        return [file for file in files if _looks_like_one(file)]
    except OSError as error:
        raise NoDumpsError(f"{error.filename or place} cannot be read: {_why(error)}") from None


def _looks_like_one(file: Path) -> bool:
    """By the first byte: files of other kinds may lie beside the dumps."""
    with open_regular(str(file)) as stream:
        start = stream.read(1)
    return start in (*_JSON, _PICKLE)


def _read(file: Path) -> tuple[dict[int, RankDump], dict[int, RankDump]]:
    """The dump of one rank, or those of many."""
    with open_regular(str(file)) as stream:
        if stream.size > MAX_BYTES:
            raise NotADumpError(f"it is larger than {MAX_BYTES >> 20} MiB")
        data = b"".join(iter(lambda: stream.read(_PIECE), b""))
    values = loads(data) if data.startswith(_PICKLE) else _decode(data)
    if isinstance(values, dict) and "entries" not in values:
        many = {int(key): read_dump(value, int(key)) for key, value in values.items() if _is_rank(key)}
        if not many:
            raise NotADumpError("it holds neither entries nor dumps by rank")
        return {}, many
    rank = rank_of(file.name)
    if rank is None:
        raise NotADumpError("its name does not end in a rank, as nccl_trace_rank_3 does")
    return {rank: read_dump(values, rank)}, {}


def _decode(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise NotADumpError("it is nested too deep") from None


def _is_rank(key: object) -> bool:
    return type(key) is int or (isinstance(key, str) and key.isdecimal() and len(key) < 8)


def _why(error: Exception) -> str:
    return error.strerror or "unknown error" if isinstance(error, OSError) else str(error)


def _nothing(place: Path, notes: list[str]) -> str:
    if notes:
        return f"{place} holds no dump that can be read (looked for {_LOOKED_FOR}): {notes[0]}"
    return (
        f"{place} holds no flight-recorder dumps (looked for {_LOOKED_FOR}, not in folders below it); PyTorch writes "
        "them when TORCH_NCCL_DUMP_ON_TIMEOUT=1 and TORCH_NCCL_TRACE_BUFFER_SIZE is above 0"
    )

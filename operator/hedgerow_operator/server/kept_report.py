"""Launchers' reports as they are kept: read quickly, and what they say of ranks let go until somebody asks again.

A report of 8 ranks is some hundred small objects, and of nearly all of them only a few sums are looked at, when it
arrives. So the ranks are read, summed up and forgotten while they are still in the processor's caches; what stays is
their text. The classes are made from those of ``hedgerow.wire`` and have the same fields, but are msgspec's own kind,
which it fills in less than half of the time, and their numbers are held to the bounds on the way.
"""

import dataclasses
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Raw

from hedgerow.wire import (
    MAX_PHASE_NAME,
    MAX_PHASES,
    MAX_SECONDS,
    VERSION,
    Activity,
    CommunicationReport,
    RankReport,
    Report,
)
from hedgerow_operator.server.bounds import MAX_BUCKET

# What msgspec can compare with; numbers between these and 64 bits are read the thorough way.
_MOST = 2**63 - 1
_Phase = Annotated[str, Meta(max_length=MAX_PHASE_NAME)]
_Histogram = dict[Annotated[int, Meta(ge=0, le=MAX_BUCKET)], Annotated[int, Meta(ge=0, le=_MOST)]]
_BOUNDED: dict[Any, Any] = {
    int: Annotated[int, Meta(ge=-_MOST, le=_MOST)],
    float: Annotated[float, Meta(ge=-MAX_SECONDS, le=MAX_SECONDS)],
}
_NAMED: dict[str, Any] = {
    "phase": _Phase,
    # Rare, and with bounds of their own.
    "collectives": None,
    "durations": Annotated[dict[_Phase, _Histogram], Meta(max_length=MAX_PHASES)],
}


def _bounded(kind: Any) -> Any:
    if get_origin(kind) is Union:
        return Union[tuple([_bounded(one) for one in get_args(kind)])]  # noqa: UP007
    return _BOUNDED.get(kind, kind)


def _fields(wired: type[Any], without: tuple[str, ...] = ()) -> list[Any]:
    hints = get_type_hints(wired)
    found: list[Any] = []
    for field in dataclasses.fields(wired):
        if field.name in without:
            continue
        kind = _NAMED.get(field.name, _bounded(hints[field.name]))
        if field.default_factory is not dataclasses.MISSING:
            found.append((field.name, kind, msgspec.field(default_factory=field.default_factory)))
        elif field.default is not dataclasses.MISSING:
            made = _BOUNDED.get(type(field.default)) if dataclasses.is_dataclass(field.default) else None
            found.append((field.name, kind, field.default if made is None else made()))
        else:
            found.append((field.name, kind))
    return found


def _mirror(wired: type[Any]) -> Any:
    made = msgspec.defstruct(wired.__name__, _fields(wired), frozen=True, gc=False, module=__name__)
    _BOUNDED[wired] = made
    return made


for _wired in (Activity, CommunicationReport, RankReport):
    _mirror(_wired)
_RANKS: Any = list[_BOUNDED[RankReport]]  # type: ignore[valid-type]
_ranks_decoder = msgspec.json.Decoder(_RANKS)


def _ranks(report: Any) -> list[RankReport]:
    if report.read is None:
        report.read = _ranks_decoder.decode(report.text)
    return cast("list[RankReport]", report.read)


# text: of the ranks. read: what it says, once it was asked for; no report can fill it.
KeptReport: Any = msgspec.defstruct(
    "KeptReport",
    [
        *_fields(Report, without=("ranks",)),
        ("text", Raw, msgspec.field(name="ranks", default=Raw(b"[]"))),
        ("read", None, msgspec.field(name="", default=None)),
    ],
    namespace={"ranks": property(_ranks)},
    gc=False,
    module=__name__,
)
_decoder = msgspec.json.Decoder(KeptReport)


def decode_quickly(body: bytes) -> Report | None:
    """The report in ``body``, with ``ranks`` read; None where anything is odd or beyond the usual bounds, so that it
    has to be read the thorough way."""
    try:
        report: Any = _decoder.decode(body)
        _ranks(report)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return cast("Report", report) if report.version == VERSION else None


def let_go(report: Report) -> None:
    """Nobody looks at its ranks for now; they are read again when somebody does."""
    kept: Any = report
    if type(kept) is KeptReport:
        kept.read = None

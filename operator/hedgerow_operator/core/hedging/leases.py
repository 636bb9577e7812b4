"""One budget over several gateways: each may spend its part alone, so nobody has to be asked before an attempt.

The parts that are out never sum to more than the whole. One that is made smaller counts in full until its gateway has
said that it keeps to the new one, and what it had spent or held by then stays with it. A gateway that cannot be reached
goes on within the part that it has; one that has gone for good keeps its part until what it spent is out of the window.
"""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.spent import DAY, HOUR

# Of a part that is not needed so much stays, so that a gateway that wakes up can begin at once.
_LEAST_SHARE = 0.1
_LEAST_CHANGE = 0.1
_NONE = Limits(0, 0)


class Asked(Struct, frozen=True, kw_only=True):
    """What a gateway says. lease: what it keeps to; used: spent and held, by window."""

    gateway: str
    lease: Limits
    used: Limits


class Part(Struct, frozen=True, kw_only=True):
    """out: the most that its gateway may think it has. used: when it last spoke. gone_at: since when it is known to be
    no more; None: it may run.
    """

    out: Limits
    used: Limits
    gone_at: float | None = None


class Book(Struct, frozen=True, kw_only=True):
    """Of one endpoint. whole: its limits; in a window without one there are no parts. Kept over restarts by whoever
    grants, since those that have gone are known from nowhere else.
    """

    whole: Limits
    parts: Mapping[str, Part] = {}


def grant(book: Book, asked: Asked, living: Collection[str], now: float) -> tuple[Book, Limits]:
    """The lease for a gateway that has just said how it stands. living: all gateways that run; while one of them is not
    in the book, what it has is not known, and nobody is given more.
    """
    book = swept(book, now)
    word = _each(max, asked.lease, asked.used)
    before = book.parts.get(asked.gateway)
    mine = Part(out=word if before is None else _each(min, before.out, word), used=asked.used)
    book = replace(book, parts={**book.parts, asked.gateway: mine})
    wanted = _steady(book, asked.gateway, asked.lease)
    lease = _each(min, _free(book, asked.gateway), wanted)
    if set(living) - set(book.parts):
        lease = _each(min, lease, asked.lease)
    mine = replace(mine, out=_each(max, mine.out, lease))
    lease = Limits(
        None if book.whole.hourly is None else lease.hourly, None if book.whole.daily is None else lease.daily
    )
    return replace(book, parts={**book.parts, asked.gateway: mine}), lease


def gone(book: Book, gateway: str, now: float) -> Book:
    """It runs no more, for certain: its pod is deleted."""
    part = book.parts.get(gateway)
    if part is None or part.gone_at is not None:
        return book
    return replace(book, parts={**book.parts, gateway: replace(part, gone_at=now)})


def swept(book: Book, now: float) -> Book:
    """Without what is out of the windows of gateways that have gone; twice their length, as attempts end later."""
    left: dict[str, Part] = {}
    for name, part in book.parts.items():
        since = now - part.gone_at if part.gone_at is not None else 0.0
        if since < 2 * HOUR:
            left[name] = part
        elif since < 2 * DAY:
            left[name] = replace(part, out=Limits(0, part.out.daily))
    return replace(book, parts=left)


def _steady(book: Book, gateway: str, lease: Limits) -> Limits:
    """The lease that there is, where a fair one would differ little and nobody has less than half of what is fair:
    each change is written down by whoever grants.
    """
    fair = _fair(book, gateway)
    near = _each(lambda one, other: abs(one - other), lease, fair)
    change = _each(lambda whole, apart: int(apart >= whole * _LEAST_CHANGE), book.whole, near)
    for name, part in book.parts.items():
        if part.gone_at is None:
            has = lease if name == gateway else part.out
            change = _each(max, change, _each(lambda one, other: int(one * 2 < other), has, _fair(book, name)))
    return Limits(fair.hourly if change.hourly else lease.hourly or 0, fair.daily if change.daily else lease.daily or 0)


def _free(book: Book, gateway: str) -> Limits:
    """What is not out at others."""
    free = _each(max, book.whole, _NONE)
    for name, part in book.parts.items():
        if name != gateway:
            free = _each(lambda left, out: max(0, left - out), free, part.out)
    return free


def _fair(book: Book, gateway: str) -> Limits:
    """Its share by what each uses."""
    alive = [part.used for part in book.parts.values() if part.gone_at is None]
    total = _NONE
    for used in alive:
        total = _each(int.__add__, total, used)
    least = _each(lambda whole, count: int(whole * _LEAST_SHARE) // count, book.whole, Limits(len(alive), len(alive)))
    spread = _each(lambda whole, each: whole - each * len(alive), book.whole, least)
    mine = book.parts[gateway].used
    by_use = _each(int.__mul__, spread, mine)
    shared = _each(lambda product, all_used: product // all_used if all_used else -1, by_use, total)
    even = _each(lambda left, count: left // count, spread, Limits(len(alive), len(alive)))
    return _each(int.__add__, least, _each(lambda share, same: same if share < 0 else share, shared, even))


def _each(function: Callable[[int, int], int], one: Limits, other: Limits) -> Limits:
    """The function of both, window by window."""
    return Limits(function(one.hourly or 0, other.hourly or 0), function(one.daily or 0, other.daily or 0))

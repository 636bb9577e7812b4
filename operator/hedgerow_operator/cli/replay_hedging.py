"""`hedgerow replay hedging`: reads the rounds, replays them under a policy, prints the figures."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from hedgerow_operator.cli.replay_training import chunks_of, save
from hedgerow_operator.replay.hedging.rounds import Round, read_rounds
from hedgerow_operator.replay.hedging.session import CHOICES, ORDER, HedgingReplay
from hedgerow_operator.replay.hedging.shown import as_object, lines_of

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class Wanted(Struct, frozen=True):
    """The options: see `hedgerow replay hedging --help`."""

    policy: str
    counted: str | None
    cancel_lag: float
    max_live: int
    max_extra_load: float


def show_rounds(path: Path, wanted: Wanted, output: str | None, plot: Path | None) -> None:
    """Print the figures. Raises click.ClickException with one sentence for bad input."""
    first, last = _range(wanted.counted)
    rounds = _rounds(path)
    replay = HedgingReplay(
        CHOICES[wanted.policy],
        cancel_lag=wanted.cancel_lag,
        max_live=wanted.max_live,
        max_extra_load=wanted.max_extra_load,
    )
    decided = [one for one in replay.all(rounds) if first <= one.round.number <= last]
    if not decided:
        raise click.ClickException(
            f"none of the rounds {rounds[0].number} to {rounds[-1].number} of {path} is among {wanted.counted}"
        )
    if plot is not None:
        from hedgerow_operator.replay.hedging.plot import draw_rounds

        save(plot, lambda: draw_rounds(decided, wanted.policy))
    click.echo(msgspec.json.encode(as_object(decided)) if output == "json" else "\n".join(lines_of(decided)))


def _rounds(path: Path) -> list[Round]:
    try:
        rounds = list(read_rounds(_lines(path)))
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from None
    for one in rounds:
        missing = [name for name in ORDER if name not in one.courses]
        if missing:
            raise click.ClickException(f"{path}: round {one.number} says nothing of {', '.join(missing)}")
    if not rounds:
        raise click.ClickException(f"{path} holds no rounds; name a file with one JSON object a line, kind round")
    return rounds


def _lines(path: Path) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks_of(path):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    yield rest


def _range(counted: str | None) -> tuple[float, float]:
    if counted is None:
        return 0, float("inf")
    match = _RANGE.fullmatch(counted)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise click.ClickException(f"--rounds is {counted!r}; write the first and the last to count, such as 19-54")
    return int(match[1]), int(match[2] or match[1])

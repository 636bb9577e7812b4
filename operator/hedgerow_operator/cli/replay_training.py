"""`hedgerow replay training`: reads the log, replays it, prints what was found."""

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from hedgerow.regular_file import open_regular
from hedgerow_operator.replay.shown import as_object, lines_of
from hedgerow_operator.replay.story import Story
from hedgerow_operator.replay.training import TrainingReplay

_CHUNK = 1 << 20


def replay_training(
    log: Path, log_format: str, pattern: str | None, ranks: int | None, gap_seconds: float
) -> Story:
    """The story that the log tells. Raises click.ClickException with one sentence for bad input."""
    try:
        session = TrainingReplay(log_format, pattern, ranks)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    for chunk in chunks_of(log):
        session.feed(chunk)
    return session.finish(gap_seconds)


def chunks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, some at a time. Raises click.ClickException when it cannot be read."""
    try:
        with open_regular(str(path)) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise click.ClickException(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}; name a file that you may read"
        ) from None


def show_story(story: Story, output: str | None, plot: Path | None) -> None:
    """Print it, and draw it where that is asked for."""
    if plot is not None:
        from hedgerow_operator.replay.plot import draw_story

        save(plot, lambda: draw_story(story))
    if output == "json":
        click.echo(msgspec.json.encode(as_object(story)))
    else:
        click.echo("\n".join(lines_of(story)))


def save(path: Path, draw: Callable[[], bytes]) -> None:
    """Draw a picture and write it. Raises click.ClickException when that fails."""
    from hedgerow_operator.replay.plot import NoPlotError

    try:
        path.write_bytes(draw())
    except NoPlotError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(
            f"--plot: {path} cannot be written: {(error.strerror or str(error)).lower()}; name another file"
        ) from None

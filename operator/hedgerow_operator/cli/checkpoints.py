"""`hedgerow checkpoints`: what lies in a checkpoint directory, whether it is whole, and back with what was moved."""

import os
from pathlib import Path

import click
import msgspec

from hedgerow.checkpoints import aside, aside_record, describe, scan
from hedgerow.wire import CheckpointScan
from hedgerow_operator.cli.output import write


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--restore", is_flag=True, help="Give back their names to checkpoints that were set aside as invalid.")
@click.option(
    "--verify",
    type=click.Choice(["Content", "Size", "Markers"]),
    default="Content",
    show_default=True,
    help="How closely to look, as in spec.checkpoint.verify.",
)
@click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object, for programs.")
def checkpoints(directory: Path, restore: bool, verify: str, output: str | None) -> None:
    """List the newest checkpoints in DIRECTORY: step, whether each is whole, and why not.

    With --restore: undo what was done there before starts (spec.checkpoint.onInvalid: MoveAside). The next start of
    the same job does it again unless onInvalid is Leave.
    Exits 0 whatever is found, 2 if DIRECTORY cannot be read.
    """
    if not directory.is_dir():
        raise click.ClickException(f"{directory} is no directory; name the one that the training script saves to")
    try:
        if restore:
            write(_restored(directory))
            return
        kept = _set_aside(directory)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{directory}: {_words(error)}") from None
    found = scan(str(directory), verify)
    if found.error is not None:
        raise click.ClickException(f"{directory} cannot be looked at: {found.error}")
    write(_as_json(found, kept) if output == "json" else _as_text(found, kept))


def _restored(directory: Path) -> str:
    lines = aside.restore(str(directory)) or [f"nothing in {directory} was set aside"]
    return "\n".join(lines) + "\n"


def _set_aside(directory: Path) -> list[aside_record.Move]:
    moves = [move for record in aside_record.read_all(str(directory)) for move in record.moves]
    return [move for move in moves if os.path.lexists(directory / move.aside)]


def _as_text(found: CheckpointScan, kept: list[aside_record.Move]) -> str:
    lines = describe(found) + [f"set aside  {move.aside}  ({move.reason})" for move in kept]
    if kept:
        lines.append("hedgerow checkpoints --restore gives back their names to those that were set aside")
    return "\n".join(lines) + "\n"


def _as_json(found: CheckpointScan, kept: list[aside_record.Move]) -> str:
    aside_now = [{"name": move.name, "aside": move.aside, "reason": move.reason} for move in kept]
    return msgspec.json.encode({"checkpoints": found.candidates, "setAside": aside_now}).decode() + "\n"


def _words(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)

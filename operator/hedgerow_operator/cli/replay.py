"""`hedgerow replay`: what a job left behind, through the same decisions as live."""

from pathlib import Path

import click

JSON_OUTPUT = click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object, for programs.")


@click.group()
def replay() -> None:
    """Feed what a job left behind through the same decisions as live."""


@replay.command("flight-recorder")
@click.argument("directory", type=click.Path(path_type=Path))
@JSON_OUTPUT
def flight_recorder(directory: Path, output: str | None) -> None:
    """Name who is guilty of a hang, from the NCCL flight-recorder dumps of its ranks in DIRECTORY.

    Exits 0 whatever is found, 2 if there is no dump that can be read.
    """
    from hedgerow_operator.cli.replay_flight_recorder import show_verdict

    show_verdict(directory, output)

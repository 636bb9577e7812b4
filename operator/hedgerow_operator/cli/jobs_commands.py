"""The commands that look at local jobs from another terminal: `hedgerow ps`, `attach` and `stop`."""

import sys
from pathlib import Path

import click

_STATE = click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path(".hedgerow"),
    show_default=True,
    help="The state directory of hedgerow local.",
)
_NAME = click.argument("name", required=False)


@click.command()
@_STATE
@click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object for each, for programs.")
def ps(state_dir: Path, output: str | None) -> None:
    """List the jobs and endpoints of this folder, how they stand, and which process looks after them."""
    from hedgerow_operator.cli.ps import list_jobs

    list_jobs(state_dir, output)


@click.command()
@_NAME
@_STATE
def attach(name: str | None, state_dir: Path) -> None:
    """Show running jobs again (NAME: one of them). Ctrl-C leaves, and stops nothing.

    Exits 0 if every job shown succeeded, 1 if not or if nobody looks after them, 2 for bad input.
    """
    from hedgerow_operator.cli.attach import follow

    sys.exit(follow(name, state_dir))


@click.command()
@_NAME
@_STATE
def stop(name: str | None, state_dir: Path) -> None:
    """Stop running jobs cleanly (NAME: one of them), so that they can go on later from their checkpoint."""
    from hedgerow_operator.cli.stop import stop_jobs

    sys.exit(stop_jobs(name, state_dir))

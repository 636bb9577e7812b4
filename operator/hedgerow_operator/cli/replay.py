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


@replay.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--format", "log_format", default="auto", show_default=True, help="Format of the log, auto: found out.")
@click.option("--log-pattern", help="An expression of your own with groups step, time, phase, loss, step_seconds.")
@click.option("--ranks", type=click.IntRange(min=1), help="How many ranks wrote it.")
@click.option("--observe-gap-seconds", type=click.FloatRange(min=0), default=0.0, help="Silence after the last line.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw step times and incidents as PNG.")
@JSON_OUTPUT
def training(
    log: Path, log_format: str, log_pattern: str | None, ranks: int | None, observe_gap_seconds: float,
    plot: Path | None, output: str | None,
) -> None:
    """Say what would have been decided while a training job wrote LOG, at the log's own clock.

    Exits 0 whatever is found, 2 if LOG cannot be read.
    """
    from hedgerow_operator.cli.replay_training import replay_training, show_story

    story = replay_training(log, log_format, log_pattern, ranks, observe_gap_seconds)
    show_story(story, output, plot)


@replay.command()
@click.argument("table", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw step times and incidents as PNG.")
@JSON_OUTPUT
def workers(table: Path, plot: Path | None, output: str | None) -> None:
    """Name the workers that became slower than their peers, from a table of their step times.

    Columns: worker, time (number of the sample), batch_time_norm. Exits 0 whatever is found, 2 if unreadable.
    """
    from hedgerow_operator.cli.replay_workers import show_workers

    show_workers(table, output, plot)

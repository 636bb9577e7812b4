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


@replay.command()
@click.argument("rounds", metavar="ROUNDS.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--policy",
    type=click.Choice(["adaptive", "fixed", "cutover", "cascade", "race", "none"]),
    default="adaptive",
    show_default=True,
    help="When a request gets a second attempt.",
)
@click.option("--rounds", "counted", metavar="FIRST-LAST", help="Count these rounds only; all are learned from.")
@click.option("--cancel-lag", type=click.FloatRange(min=0), default=0.0, help="Seconds until a loser really stops.")
@click.option("--max-live", type=click.IntRange(min=1), default=3, show_default=True, help="Live attempts a request.")
@click.option(
    "--max-extra-load-percent",
    type=click.FloatRange(min=0),
    default=100.0,
    show_default=True,
    help="Attempts beyond the first, in percent of the requests.",
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw each round's latency as PNG.")
@JSON_OUTPUT
def hedging(
    rounds: Path, policy: str, counted: str | None, cancel_lag: float, max_live: int, max_extra_load_percent: float,
    plot: Path | None, output: str | None,
) -> None:
    """Say how fast, and how dear, the requests recorded in ROUNDS.jsonl would have been under a policy.

    In each round every provider was given the same request; a policy sees of it what the provider would have shown,
    when it would have. Exits 0 whatever is found, 2 if the file cannot be read.
    """
    from hedgerow_operator.cli.replay_hedging import Wanted, show_rounds

    wanted = Wanted(policy, counted, cancel_lag, max_live, max_extra_load_percent / 100)
    show_rounds(rounds, wanted, output, plot)

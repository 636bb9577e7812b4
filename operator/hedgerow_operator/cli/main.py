"""Entry point of `hedgerow`: commands, and one sentence on standard error for whatever was wrong with the input."""

import sys
from pathlib import Path

import click

from hedgerow_operator.cli.checkpoints import checkpoints
from hedgerow_operator.cli.replay import replay

BAD_INPUT = 2
_OUTPUTS = click.Choice(["wide", "json"])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hedgerow", message="hedgerow %(version)s")
def commands() -> None:
    """Finds training jobs that silently stall, names the guilty rank, resumes from the last valid checkpoint."""


@commands.command()
@click.option(
    "-f",
    "--filename",
    "manifests",
    required=True,
    metavar="FILE_OR_DIR",
    help="TrainingJobs to run; - reads standard input.",
)
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path(".hedgerow"),
    show_default=True,
    help="Where objects, logs and records are kept.",
)
@click.option("-o", "--output", type=_OUTPUTS, help="wide: more columns. json: one whole object a line at each change.")
def local(manifests: str, state_dir: Path, output: str | None) -> None:
    """Run TrainingJobs on this machine, without a cluster.

    Ctrl-C stops the ranks and leaves a state that the same command goes on from; a second Ctrl-C kills at once.
    Exits 0 if every job succeeded, 1 if not, 2 for bad input.
    """
    from hedgerow_operator.cli.local import run_manifests

    sys.exit(run_manifests(manifests, state_dir, output))


@commands.command()
@click.option(
    "--state-dir", type=click.Path(path_type=Path), help="Where to keep everything; default: a new temporary directory."
)
def demo(state_dir: Path | None) -> None:
    """Watch a training job hang and come back, on this machine, in about half a minute."""
    from hedgerow_operator.cli.demo import run_demo

    sys.exit(run_demo(state_dir))


@commands.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--ranks", type=click.IntRange(min=1), metavar="N", help="How many ranks the job has.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object, for programs.")
def explain(file: Path, ranks: int | None, output: str | None) -> None:
    """Say what the output of a failing job tells: who is suspect, who only waited, and what kind of fault it is.

    FILE is the output of ranks and launchers, an NCCL RAS report, or a scrape of xpu_timer (.prom).
    Exits 0 whatever is found, 2 if FILE cannot be read.
    """
    from hedgerow_operator.cli.explain import show_explanation

    show_explanation(file, ranks, output)


@commands.command(add_help_option=False, short_help="Start the ranks of one worker (hedgerow run --help).")
def run() -> None:
    """Start the ranks of one worker (what a manifest's command is wrapped in): hedgerow run [OPTIONS] -- COMMAND."""


commands.add_command(checkpoints)
commands.add_command(replay)


def main() -> None:
    """Run the command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:  # the launcher reads its own arguments, "--" included
        from hedgerow.__main__ import main as launcher

        sys.exit(launcher(arguments))
    try:
        sys.exit(commands.main(arguments or ["--help"], prog_name="hedgerow", standalone_mode=False))
    except click.UsageError as error:
        help_of = error.ctx.command_path if error.ctx else "hedgerow"
        fail(f"{error.format_message()} See {help_of} --help")
    except click.ClickException as error:
        fail(error.format_message())
    except click.Abort:
        sys.exit(1)


def fail(sentence: str) -> None:
    """Say what was wrong with the input and exit."""
    click.echo(f"hedgerow: {sentence}", err=True)
    sys.exit(BAD_INPUT)

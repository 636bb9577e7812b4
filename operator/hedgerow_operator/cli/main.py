"""Entry point of `hedgerow`: commands, and one sentence on standard error for whatever was wrong with the input."""

import sys
from pathlib import Path

import click

from hedgerow_operator.cli.checkpoints import checkpoints
from hedgerow_operator.cli.jobs_commands import attach, ps, stop
from hedgerow_operator.cli.local_command import local
from hedgerow_operator.cli.manifest_commands import check, render
from hedgerow_operator.cli.receipts_command import receipts
from hedgerow_operator.cli.replay import replay

BAD_INPUT = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hedgerow", message="hedgerow %(version)s")
def commands() -> None:
    """Finds training jobs that silently stall, names the guilty rank, resumes from the last valid checkpoint."""


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


@commands.command(add_help_option=False, short_help="Submit a script to Slurm, looked after (hedgerow sbatch --help).")
def sbatch() -> None:
    """Submit a batch script to Slurm as sbatch does, and look after what its sruns start."""


for _command in (local, ps, attach, stop, render, check, checkpoints, replay, receipts):
    commands.add_command(_command)


def main() -> None:
    """Run the command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:  # the launcher reads its own arguments, "--" included
        from hedgerow.__main__ import main as launcher

        sys.exit(launcher(arguments))
    try:
        if arguments[:1] in (["sbatch"], ["supervise"]):  # most of these options are sbatch's
            sys.exit(_slurm(arguments[0], arguments[1:]))
        sys.exit(commands.main(arguments or ["--help"], prog_name="hedgerow", standalone_mode=False))
    except click.UsageError as error:
        help_of = error.ctx.command_path if error.ctx else "hedgerow"
        fail(f"{error.format_message()} See {help_of} --help")
    except click.ClickException as error:
        fail(error.format_message())
    except click.Abort:
        sys.exit(1)


def _slurm(command: str, words: list[str]) -> int:
    if command == "sbatch":
        from hedgerow_operator.cli.slurm.submission import sbatch

        return sbatch(words)
    from hedgerow_operator.cli.slurm.supervise import supervise

    return supervise(words)


def fail(sentence: str) -> None:
    """Say what was wrong with the input and exit."""
    click.echo(f"hedgerow: {sentence}", err=True)
    sys.exit(BAD_INPUT)

"""The command `hedgerow local`: its options, and which of them belong together."""

import sys
from pathlib import Path

import click

_COUNT = click.IntRange(min=1)


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "-f",
    "--filename",
    "manifests",
    metavar="FILE_OR_DIR",
    help="TrainingJobs to run, endpoints to serve; - reads standard input.",
)
@click.option("--nproc", type=_COUNT, metavar="N", help="Ranks; default: 1, or what torchrun in COMMAND is told.")
@click.option("--workers", type=_COUNT, metavar="N", help="Groups of so many ranks each; default: 1.")
@click.option("--checkpoint-dir", metavar="DIR", help="Where COMMAND writes its checkpoints, to resume from.")
@click.option("--max-restarts", type=click.IntRange(min=0), metavar="N", help="After so many it is given up.")
@click.option("--name", metavar="NAME", help="Name of the job; default: after the script.")
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path(".hedgerow"),
    show_default=True,
    help="Where objects, logs and records are kept.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["wide", "json"]),
    help="wide: more columns. json: one whole object a line at each change.",
)
@click.option("--detach", is_flag=True, help="Go on in the background at once.")
@click.option(
    "--notify",
    metavar="URL",
    envvar="HEDGEROW_NOTIFY",
    help="Webhook that is told of trouble and of the end; the variable HEDGEROW_NOTIFY does the same.",
)
@click.option(
    "--notify-format",
    type=click.Choice(["json", "slack"]),
    help='slack: {"text": …}; default: json, and slack for hooks.slack.com.',
)
@click.option(
    "--report-host",
    metavar="HOST",
    help="Where nodes of Slurm reach this machine, for jobs with spec.slurm; default: its own address.",
)
@click.option(
    "--gateway-port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="PORT",
    help="Where endpoints are served on 127.0.0.1; default: a free one, which is said.",
)
@click.option(
    "--secrets",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Secrets of endpoints, as files DIR/NAME/KEY; default: variables HEDGEROW_SECRET_NAME_KEY.",
)
@click.option("--exit-when-jobs-done", is_flag=True, help="Serve endpoints no longer than the jobs run.")
def local(
    command: tuple[str, ...],
    manifests: str | None,
    nproc: int | None,
    workers: int | None,
    checkpoint_dir: str | None,
    max_restarts: int | None,
    name: str | None,
    state_dir: Path,
    output: str | None,
    detach: bool,
    notify: str | None,
    notify_format: str | None,
    report_host: str | None,
    gateway_port: int,
    secrets: Path | None,
    exit_when_jobs_done: bool,
) -> None:
    """Train and serve on this machine, without a cluster: what manifests say (-f), or COMMAND without any.

    Ctrl-C stops the ranks and leaves a state that the same command goes on from; a second Ctrl-C kills at once. A
    terminal that closes leaves the run in the background: hedgerow ps, attach and stop. InferenceEndpoints are served
    until Ctrl-C.
    Exits 0 if every job succeeded, 1 if not, 2 for bad input.
    """
    from hedgerow_operator.cli.command_job import Wanted
    from hedgerow_operator.cli.local import Telling, run_manifests
    from hedgerow_operator.cli.one_box import run_command
    from hedgerow_operator.cli.serving.wanted import ServingOptions

    if detach and output:
        raise click.ClickException("--detach shows nothing here; leave -o out, or look later with hedgerow ps -o json")
    if notify_format and not notify:
        raise click.ClickException("--notify-format needs an address to notify; give one with --notify URL")
    if bool(command) == (manifests is not None):
        raise click.ClickException(
            "write either -f FILE_OR_DIR with TrainingJobs, or a command: hedgerow local -- python train.py"
        )
    wanted = Wanted(
        command=command,
        name=name,
        nproc=nproc,
        workers=workers,
        checkpoint_directory=checkpoint_dir,
        max_restarts=max_restarts,
    )
    telling = Telling(output=output, detach=detach, notify=notify, notify_format=notify_format, report_host=report_host)
    serving = ServingOptions(port=gateway_port, secrets=secrets, exit_when_jobs_done=exit_when_jobs_done)
    if manifests is None and serving.words():
        raise click.ClickException(f"{serving.words()[0]} belongs to manifests with an InferenceEndpoint (-f)")
    if manifests is None:
        sys.exit(run_command(wanted, state_dir, telling))
    for option in wanted.options():
        raise click.ClickException(f"{option} belongs to a command after --; with -f write it into the manifest")
    sys.exit(run_manifests(manifests, state_dir, telling, serving))

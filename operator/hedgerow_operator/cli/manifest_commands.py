"""The commands that judge manifests before anything is started: `hedgerow render` and `hedgerow check`."""

import sys
from pathlib import Path

import click

_MANIFESTS = click.option(
    "-f",
    "--filename",
    "manifests",
    required=True,
    metavar="FILE_OR_DIR",
    help="TrainingJobs; - reads standard input.",
)
_REPORT_URL = click.option(
    "--report-url",
    metavar="URL",
    help="Where the pods report.  [default: as the installed operator says, else as the chart does]",
)
_IMAGE = click.option(
    "--image", help="Image of the init container.  [default: as the installed operator says, else of this release]"
)


@click.command()
@_MANIFESTS
@_REPORT_URL
@_IMAGE
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path(".hedgerow"),
    show_default=True,
    help="As of hedgerow local.",
)
def render(manifests: str, report_url: str | None, image: str | None, state_dir: Path) -> None:
    """Print what would be created for a job's first attempt: the Job on Kubernetes, or the local processes.

    Comment lines at its head say how the command is launched, the number of ranks, and how it resumes. Needs no
    cluster, and prints the same for the same manifest. Exits 0, or 2 for bad input.
    """
    from hedgerow_operator.cli.render import show_rendered

    show_rendered(manifests, report_url, image, state_dir)


@click.command()
@_MANIFESTS
@click.option(
    "--context",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="Ask the cluster of this context too; without NAME that of the current one.",
)
@click.option("-n", "--namespace", help="Namespace of jobs that name none.  [default: the context's, else default]")
@click.option("--probe", is_flag=True, help="Start one small pod that tries the report URL, and delete it.")
@_REPORT_URL
@_IMAGE
@click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object, for programs.")
def check(
    manifests: str,
    context: str | None,
    namespace: str | None,
    probe: bool,
    report_url: str | None,
    image: str | None,
    output: str | None,
) -> None:
    """Say what would go wrong with a job, before it costs a GPU hour.

    Looks at the manifest by the rules of the API server, at the command, the checkpoint directory and the pods. With
    --context asks the cluster: whether it would take the job and its pods, what is missing, whether the operator is
    there. Changes nothing there but for --probe. Exits 0 without errors, 1 with errors, 2 if FILE cannot be read.
    """
    from hedgerow_operator.cli.check import CheckOptions, run_check

    if probe and context is None:
        context = ""
    sys.exit(run_check(manifests, CheckOptions(context, namespace, probe, report_url, image), output))

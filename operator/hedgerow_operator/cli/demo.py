"""`hedgerow demo`: the quickstart example, run in a copy of its own and told as a story."""

import shutil
import tempfile
import time
from pathlib import Path

import click

import hedgerow_operator
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.cli.local import command, run_jobs
from hedgerow_operator.cli.outcome import ALL_SUCCEEDED
from hedgerow_operator.cli.output import Output
from hedgerow_operator.cli.serving.comparison import compare
from hedgerow_operator.cli.views.story import Story
from hedgerow_operator.reconcile.ports import JobKey

# What earlier runs of the example leave beside it.
_LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "checkpoints", ".hedgerow")
_JOB = JobKey("default", "quickstart")


def run_demo(state_dir: Path | None) -> int:
    """Run the example; the exit code."""
    folder = (state_dir or Path(tempfile.mkdtemp(prefix="hedgerow-demo-"))).absolute()
    example = folder / "quickstart"
    paths = StatePaths(folder / "state")
    if paths.object(_JOB).exists():
        raise click.ClickException(f"a demo was run in {folder} already; give another --state-dir, or none")
    try:
        shutil.copytree(find_example(), example, dirs_exist_ok=True, ignore=_LEFT_BEHIND)
    except OSError as error:
        why = error.strerror or error
        raise click.ClickException(f"{folder} cannot be written to: {why}; give another --state-dir") from None

    def story(output: Output) -> Story:
        told = Story(output.write, time.monotonic, paths.log(_JOB, 1, 0), paths.object(_JOB), example)
        told.begin()
        return told

    manifest = str(example / "trainingjob.yaml")
    code = run_jobs(load_manifests(manifest), paths.root, story, command(["-f", manifest], paths.root))
    if code == ALL_SUCCEEDED:
        compare(example / "inferenceendpoint.yaml", folder / "serving")
    return code


def find_example() -> Path:
    """The example's folder: in the installed package, or in the checkout that was installed in place."""
    package = Path(hedgerow_operator.__file__).parent
    installed = package / "examples" / "quickstart"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "quickstart"

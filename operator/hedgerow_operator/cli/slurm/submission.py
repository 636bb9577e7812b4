"""`hedgerow sbatch`: submits what sbatch was to submit, wrapped; exit codes and output are sbatch's."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from hedgerow_operator.cli.slurm.folder import Folder, name_after, new_folder
from hedgerow_operator.cli.slurm.own_options import OwnOptions, split
from hedgerow_operator.cli.slurm.pruning import prune
from hedgerow_operator.cli.slurm.waiting import wait_for_end
from hedgerow_operator.core.slurm.sbatch_lines import BadLine, is_heterogeneous
from hedgerow_operator.core.slurm.sbatch_options import HETEROGENEOUS, CommandLine, without, words_of
from hedgerow_operator.core.slurm.sbatch_plan import (
    PRINTING,
    SbatchPlan,
    given,
    is_script,
    of_wrap,
    with_added_flags,
    wrapper,
)

SBATCH = "sbatch"
OFF_VARIABLE, OFF = "HEDGEROW", "off"
_NOT_FOUND = 127
_DEFAULT_GRACE = 30
# The supervisor reads no PYTHON* variables, and no module of the folder that it runs in.
PYTHON = (sys.executable, "-E", "-P", "-m", "hedgerow_operator.cli")
_HELP = """Usage: hedgerow sbatch [OPTIONS] [OPTIONS OF SBATCH] SCRIPT [ARGUMENTS]

  Submit a batch script as sbatch does, and look after what its sruns start: ranks that stand still are found and
  started anew, and where nodes or time run out, a batch job that waits already goes on from the newest checkpoint.

Options:
  --checkpoint-dir DIR  Where the script writes its checkpoints (or HEDGEROW_CHECKPOINT_DIRECTORY).
  --job-spec FILE       YAML with any of checkpoint, heartbeat, health, alerts, recovery, cost of a TrainingJob's spec.
  --state-dir DIR       On a file system that all nodes share; default: ~/.hedgerow/sbatch (or HEDGEROW_STATE).
  --no-successor        Submit no batch job that waits for the end of this one.
  --supervise           What is done anyway; with HEDGEROW=off in the environment it is plain sbatch.

All other options are sbatch's: sbatch --help lists them."""


def sbatch(words: Sequence[str]) -> int:
    """Submit; the exit code. Raises click.ClickException for what is wrong with our own options."""
    if list(words) in (["--help"], ["-h"]):
        click.echo(_HELP)
        return 0
    own, line = split(words, os.environ)
    rest = _words_of(line)
    if os.environ.get(OFF_VARIABLE) == OFF or any(flag.name in PRINTING for flag in line.flags):
        return _become(rest)
    if line.script == HETEROGENEOUS:
        return _unwatched(rest, "a heterogeneous job")
    name, script = _script_of(line)
    if script is None:
        return _become(rest)
    if not is_script(script):
        return _submit(rest, script if line.script is None else None)
    if is_heterogeneous(script):
        return _unwatched(rest, "a heterogeneous job", script if line.script is None else None)
    if not _is_text([*rest, name, os.getcwd(), str(own.state)]):
        return _unwatched(rest, "what has words that are no UTF-8", script if line.script is None else None)
    try:
        return _watched(own, line, name, script)
    except BadLine:
        return _submit(rest, script if line.script is None else None)


def _words_of(line: CommandLine) -> list[str]:
    script = [] if line.script is None else [line.script]
    dashes = ["--"] if line.script is not None and line.script.startswith("-") else []
    return [*words_of(line.flags), *dashes, *script, *line.arguments]


def _is_text(words: Sequence[str]) -> bool:
    """Whether they can be written down: bytes that are no UTF-8 arrive as halves of characters."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return False
    return True


def _script_of(line: CommandLine) -> tuple[str, str | None]:
    """Its name as sbatch calls it, and its text; None: it cannot be read."""
    wrapped = line.value("wrap")
    if wrapped is not None:
        return "wrap", None if line.script is not None else of_wrap(wrapped)
    try:
        if line.script is None:
            return "sbatch", sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        data = Path(line.script).read_bytes()
    except OSError:
        return "", None
    return os.path.basename(line.script), data.decode("utf-8", "surrogateescape")


def _watched(own: OwnOptions, line: CommandLine, name: str, script: str) -> int:
    flags = without(line.flags, ("wrap",))
    variables = {key: value for key, value in os.environ.items() if key.startswith("SBATCH_")}
    plan = SbatchPlan(
        name=name,
        flags=tuple(words_of(flags)),
        variables=variables,
        arguments=line.arguments,
        directory=os.getcwd(),
        spec=own.spec,
        successor=own.successor,
    )
    grace = int(own.spec.get("recovery", {}).get("graceSeconds", _DEFAULT_GRACE))
    try:
        folder = new_folder(own.state)
        plan = with_added_flags(plan, flags, script, grace, folder.path.name)
        folder.write(plan, script)
    except OSError as error:
        raise click.ClickException(
            f"{own.state} cannot be written to ({error.strerror}); name a folder that all nodes share with --state-dir"
        ) from None
    words = [*words_of(without(flags, ("parsable", "quiet"))), "--parsable", *plan.added]
    text = wrapper(script, PYTHON, str(folder.path), plan.own_signal)
    told = {option: given(option, flags, script, variables) is not None for option in ("parsable", "quiet", "wait")}
    return _submit_and_tell(words, text, line, folder, name, told)


def _submit_and_tell(
    words: Sequence[str], text: str, line: CommandLine, folder: Folder, name: str, told: Mapping[str, bool]
) -> int:
    """told: whether sbatch was told to be parsable, to be quiet, to wait."""
    path = folder.write_submitted("first", name, text)
    # From standard input as well where the script comes from there: a batch job is called after its file.
    piped = line.script is None and line.value("wrap") is None
    with path.open() as file:
        try:
            process = subprocess.Popen(
                [SBATCH, *words, *([] if piped else [str(path), *line.arguments])],
                stdin=file if piped else None,
                stdout=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            return _cannot(error)
    assert process.stdout is not None
    job_id, _, cluster = process.stdout.readline().strip().partition(";")
    if job_id:
        name_after(folder, job_id)
        if cluster:
            with contextlib.suppress(OSError):
                folder.note_cluster(cluster)
        _tell(told, job_id, cluster)
        prune(folder.path.parent, time.time())
    code = process.wait()
    if code and not job_id:
        shutil.rmtree(folder.path, ignore_errors=True)
    return wait_for_end(folder, code) if job_id and told["wait"] else code


def _tell(told: Mapping[str, bool], job_id: str, cluster: str) -> None:
    """As sbatch does."""
    if told["parsable"]:
        click.echo(f"{job_id};{cluster}" if cluster else job_id)
    elif not told["quiet"]:
        click.echo(f"Submitted batch job {job_id}" + (f" on cluster {cluster}" if cluster else ""))


def _unwatched(words: Sequence[str], what: str, script: str | None = None) -> int:
    click.echo(f"hedgerow: {what} is submitted as by sbatch, and not looked after", err=True)
    return _submit(words, script)


def _submit(words: Sequence[str], script: str | None) -> int:
    """Plain sbatch; script: what was read from standard input already."""
    if script is None:
        return _become(words)
    try:
        return subprocess.run([SBATCH, *words], input=script.encode("utf-8", "surrogateescape"), check=False).returncode
    except OSError as error:
        return _cannot(error)


def _become(words: Sequence[str]) -> int:
    sys.stdout.flush()
    try:
        os.execvp(SBATCH, [SBATCH, *words])  # noqa: S606 (what the user has asked for)
    except OSError as error:
        return _cannot(error)


def _cannot(error: OSError) -> int:
    click.echo(
        f"hedgerow: {SBATCH} cannot be run: {error.strerror}; submit from a machine that has Slurm's commands", err=True
    )
    return _NOT_FOUND

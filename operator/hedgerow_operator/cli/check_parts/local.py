"""A local job: whether its directory, program and script are there, and the checkpoint directory can be written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hedgerow.launch_front import without_front
from hedgerow_operator.api.spec import LocalSpec, TrainingJobSpec
from hedgerow_operator.cli.check_parts.finding import Finding, about

_error, _warning, _fine = about("local")


def findings(spec: TrainingJobSpec, folder: Path) -> Iterator[Finding]:
    """What is to say about a job of this machine. folder: its workingDir, absolute."""
    assert spec.local is not None
    if not folder.is_dir():
        yield _error(f"workingDir: there is no directory {folder}; write one that exists")
        return
    yield from _program(spec.local, folder)
    yield from _script(spec.local, folder)
    if spec.checkpoint is not None:
        yield _checkpoints(folder / spec.checkpoint.directory)


def _program(local: LocalSpec, folder: Path) -> Iterator[Finding]:
    program = local.command[0]
    path = next((variable.value for variable in local.env if variable.name == "PATH"), None)
    found = shutil.which(str(folder / program) if "/" in program else program, path=path)
    if found is None:
        yield _error(f"there is no program {program} in {folder if '/' in program else 'PATH'} that can be started")
    else:
        yield _fine(f"{program} is {found}")


def _script(local: LocalSpec, folder: Path) -> Iterator[Finding]:
    """The first word that names a Python file; what follows it is its own affair."""
    words = without_front(local.command)
    script = next((word for word in words[1:] if word.endswith(".py")), None)
    if script is not None and "-m" not in words[: words.index(script)] and not (folder / script).is_file():
        yield _error(f"there is no file {folder / script}; write the script's path, absolute or from workingDir")


def _checkpoints(directory: Path) -> Finding:
    nearest = next(place for place in (directory, *directory.parents) if place.exists())
    if nearest == directory and not nearest.is_dir():
        return _error(f"{directory} is no directory; write another checkpoint.directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return _error(f"checkpoints cannot be written to {directory}: {nearest} may not be changed by this user")
    return _fine(f"checkpoints can be written to {directory}")

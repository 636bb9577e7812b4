"""The TrainingJob of a command line without a manifest. Pure but for the files that a shell script is read from."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct

from hedgerow.launch_mode import LAUNCHER_MODULES, LAUNCHERS, PER_WORKER, default_mode, script_file
from hedgerow.regular_file import open_regular
from hedgerow_operator.api.labels import API_VERSION, MAX_JOB_NAME_LENGTH, TRAINING_JOB_KIND
from hedgerow_operator.api.manifests import FoundJob, ManifestError, Manifests
from hedgerow_operator.api.validate import checked

WHERE = "command line"
_SUFFIX_LENGTH = 4  # -999
_SCRIPTS = (".py", ".sh", ".bash")
_NO_NAME = "job"
_MOST_DIGITS = 5
_SCRIPT_BYTES = 1 << 16
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
# What torchrun, accelerate and deepspeed call the number of ranks of one machine.
_RANK_OPTIONS = ("nproc_per_node", "num_processes", "num_gpus")


class Wanted(Struct, frozen=True, kw_only=True):
    """What the options of ``hedgerow local … -- CMD`` say; None: not given."""

    command: tuple[str, ...]
    name: str | None = None
    nproc: int | None = None
    workers: int | None = None
    checkpoint_directory: str | None = None
    max_restarts: int | None = None

    def options(self) -> Iterator[str]:
        """The same as words of a command line."""
        given = {
            "--name": self.name,
            "--workers": self.workers,
            "--nproc": self.nproc,
            "--checkpoint-dir": self.checkpoint_directory,
            "--max-restarts": self.max_restarts,
        }
        for option, value in given.items():
            if value is not None:
                yield from (option, str(value))


def as_manifests(wanted: Wanted, name: str, folder: Path) -> Manifests:
    """The job, held to the same rules as one in a manifest. folder: what is relative counts from it."""
    job, problems = checked(_fields(wanted, name, folder))
    errors = tuple(ManifestError(WHERE, problem.sentence) for problem in problems)
    return Manifests((FoundJob(job, WHERE, folder),) if job else (), errors)


def names(command: Sequence[str]) -> Iterator[str]:
    """Names for a job of this command: after its script, and with a number where that is taken."""
    base = _label(_subject(command))
    yield base
    yield from (f"{base}-{number}" for number in range(2, 1000))


class Ranks(Struct, frozen=True):
    """How many ranks the command is for on each machine, and a sentence that says why where that is not plain."""

    count: int
    why: str = ""


def ranks_of(command: Sequence[str]) -> Ranks:
    """What a launcher of ranks in the command, or in the shell script that it names, was told to start; else 1."""
    if default_mode(command) != PER_WORKER:
        return Ranks(1)
    words = _words([*command, _COMMENT.sub("", _script_text(script_file(command)))])
    for at, word in enumerate(words):
        option, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and option.replace("-", "_") in _RANK_OPTIONS:
            text = (value if equals else next(iter(words[at + 1 : at + 2]), "")).strip("'\"")
            if text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS:
                return Ranks(
                    int(text), f"{text} ranks, as --{option} in the command says; --nproc gives another number"
                )
            count = _processors()
            return Ranks(count, f"{count} ranks, one for each GPU, for --{option} {text}; --nproc gives another number")
    return Ranks(1, "1 rank, since the command tells no number; --nproc gives another one")


def _processors() -> int:
    """What ``auto`` and ``gpu`` mean: the GPUs that may be used, as NVIDIA's driver lists them; without any 1."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip()]) or 1
    return len(list(Path("/dev").glob("nvidia[0-9]*"))) or 1


def _script_text(path: str) -> str:
    try:
        if not path:
            return ""
        with open_regular(path) as file:
            return file.read(_SCRIPT_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _fields(wanted: Wanted, name: str, folder: Path) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "workers": 1 if wanted.workers is None else wanted.workers,
        "ranksPerWorker": ranks_of(wanted.command).count if wanted.nproc is None else wanted.nproc,
        "local": {"command": list(wanted.command), "workingDir": str(folder)},
    }
    if wanted.checkpoint_directory is not None:
        spec["checkpoint"] = {"directory": wanted.checkpoint_directory}
    if wanted.max_restarts is not None:
        spec["recovery"] = {"maxRestarts": wanted.max_restarts}
    return {"apiVersion": API_VERSION, "kind": TRAINING_JOB_KIND, "metadata": {"name": name}, "spec": spec}


def _subject(command: Sequence[str]) -> str:
    """What the command is about: its first script, else the last module or program that launches nothing else."""
    scripts = [word for word in _words(command) if word.endswith(_SCRIPTS)]
    if scripts:
        return Path(scripts[0]).stem
    modules = [after for word, after in pairwise(command) if word == "-m"]
    own = [name for name in modules if name not in LAUNCHER_MODULES]
    if own:
        return own[0]
    return next((Path(word).name for word in command if Path(word).name not in LAUNCHERS), "")


def _words(command: Sequence[str]) -> list[str]:
    """Also those in what ``bash -c`` is given."""
    return [part for word in command for part in word.split()]


def _label(text: str) -> str:
    """A DNS label."""
    words = re.sub("[^a-z0-9]+", "-", text.lower())
    return words[: MAX_JOB_NAME_LENGTH - _SUFFIX_LENGTH].strip("-") or _NO_NAME

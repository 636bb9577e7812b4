"""What the name of a file or folder says: the step, the shard, and whether a save was under way. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

# Renamed by us because it was proven invalid.
SET_ASIDE = ".hedgerow-invalid"
# NeMo puts this beside a checkpoint while it is written or deleted (NVIDIA-NeMo/Speech pull request 7952).
UNFINISHED = "-unfinished"
# NeMo AutoModel puts this into one (NVIDIA-NeMo/Automodel pull request 3261).
IN_PROGRESS = ".in_progress"
# Beyond, a number is no step that anything counted to, and no JSON reader keeps it exactly.
LARGEST_STEP = 2**53
EXTENSIONS = (".safetensors", ".npz", ".pt", ".pth", ".bin", ".ckpt")

# Orbax (google/orbax issue 647), Trainer versions that stage, flax before its rename, and common habits.
_TEMPORARY = re.compile(
    r"\.orbax-checkpoint-tmp|^tmp[-_.]|[-_.]tmp$|\.tmp[-_.]|\.part(ial)?$|\.part-\d+$|\.incomplete$|~$|^\."
)
_SHARD = re.compile(r"[-_.](?:rank|shard|part|worker)[-_=.]?(\d+)(?:[-_]?of[-_]?(\d+))?$")
_NAMED_STEP = re.compile(r"(?:^|[^a-z])(?:global[-_]?step|steps?|iteration|iter|batch|ba)[-_=]?(\d+)(?![\d.]*\d)")
_NUMBERED = re.compile(
    r"^(?:.*[-_.])?(?:checkpoint|ckpt|model|state|snapshot|save|weights|epoch|ep"
    r"|optimizer|optim|scheduler|scaler|rng_state|rng|ema|trainer_state)(?:[-_=.][a-z0-9=_-]*?)?(?:[-_=]|(?<!\d)\.)?(\d+)$"
)
_VERSION = re.compile(r"-v\d+$")  # Lightning's, for a name that was taken
# Names without a step for the newest of all: nanoGPT, torchrun's examples, Lightning's save_last, and the like.
_NEWEST = re.compile(
    r"(?:(?:last|latest)(?:[-_.]?(?:ckpt|checkpoint|model|snapshot|state))?(?:-v\d+)?"
    r"|(?:ckpt|checkpoint|snapshot|model|state)[-_.](?:last|latest)|ckpt|checkpoint|snapshot)"
)
_PIECE_OF_A_MODEL = re.compile(r"-\d+-of-\d+$")
_COMPONENT = re.compile(r"^(model|optimizer|optim|scheduler|scaler|rng_state|rng|ema|state|trainer_state)[-_=.]?\d")


class Name(NamedTuple):
    """A name that carries a step. stem: the name without shard and extension. shard: its number, shards: of how many.

    component: the part of a step that the file holds, where several files hold one (model, optimizer, …).
    """

    step: int
    stem: str
    extension: str
    shard: Optional[int] = None
    shards: Optional[int] = None
    component: str = ""


def is_temporary(name: str) -> bool:
    """Whether the name belongs to a save that had not ended, or to what was set aside: never a candidate."""
    return name.endswith((SET_ASIDE, UNFINISHED)) or _TEMPORARY.search(name.lower()) is not None


def is_newest(name: str) -> bool:
    """Whether a file of this name, which carries no step, is what a script that resumes by itself would take."""
    stem, extension = _split_extension(name)
    return bool(extension) and _NEWEST.fullmatch(stem.lower()) is not None


def parse(name: str, is_folder: bool) -> Optional[Name]:
    """The step in a name; None for one without, and for files of a kind that holds no weights."""
    stem, extension = (name, "") if is_folder else _split_extension(name)
    if not is_folder and not extension and "." in stem.replace("=", ""):
        return None
    shard = _SHARD.search(stem)
    if shard:
        stem = stem[: shard.start()]
    step = _step(stem.lower())
    if step is None:
        return None
    component = _COMPONENT.match(stem.lower())
    return Name(
        step,
        stem,
        extension,
        int(shard.group(1)) if shard else None,
        int(shard.group(2)) if shard and shard.group(2) else None,
        component.group(1) if component else "",
    )


def _split_extension(name: str) -> "tuple[str, str]":
    for extension in EXTENSIONS:
        if name.endswith(extension) and len(name) > len(extension):
            return name[: -len(extension)], extension
    return name, ""


def _step(stem: str) -> Optional[int]:
    stem = _VERSION.sub("", stem)
    if stem.isdecimal():
        return _number(stem)
    if _PIECE_OF_A_MODEL.search(stem):
        return None
    named = _NAMED_STEP.findall(stem)
    if named:
        return _number(named[-1])
    numbered = _NUMBERED.match(stem)
    return _number(numbered.group(1)) if numbered else None


def _number(digits: str) -> Optional[int]:
    number = int(digits)
    return number if number <= LARGEST_STEP else None

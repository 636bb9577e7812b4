"""What a job's command becomes: how often it is started, what of it gives way, how it resumes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from hedgerow.launch_arguments import KINDS, without_ours
from hedgerow.launch_front import without_front
from hedgerow.launch_mode import PER_WORKER, default_mode, inline_script, script_file
from hedgerow_operator.api.pod_template import read_pods
from hedgerow_operator.api.slurm_spec import PER_TASK, SlurmSpec
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.build.slurm.user_script import calls_srun, interpreter

# Options by which the usual trainers resume, as they are written on command lines.
RESUME_OPTIONS = (
    "--resume_from_checkpoint", "--resume-from-checkpoint", "--resume", "--resume_from", "--auto_resume",
    "--auto-resume", "--load", "--load-checkpoint", "--init_from", "--ckpt_path", "--ckpt-path", "--checkpoint-path",
    "--restore", "--checkpoint.load_step", "--checkpoint.enable_checkpoint", "--checkpoint.enable", "--ckpt.load",
    "--load_checkpoint", "--continue-from",
)  # fmt: skip
# As Hydra, Lightning's and LLaMA-Factory's command lines take them: name=value.
RESUME_SETTINGS = (
    "resume_from_checkpoint", "exp_manager.resume_if_exists", "ckpt_path", "trainer.resume_from_checkpoint",
    "trainer.ckpt_path", "resume", "auto_resume",
)  # fmt: skip
# In place of PerRank and PerWorker.
BY_SRUN = "by srun"
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATORS = frozenset("&;|(){}\n")
_UNBOUNDED = frozenset(("&&", "||", "|", ";", "&", "(", ")", "{", "}", "then", "do", "else", "!", "|&"))


@dataclass(frozen=True)
class Launch:
    """processes: PerRank, PerWorker or BY_SRUN, empty where only the script in the image tells. why: what that follows
    from.

    command: of the container or of spec.local, with its arguments. launcher: what starts the ranks, if it is seen.
    gives_way: its options that the job decides. resumes: words of the command that say how it resumes.
    """

    processes: str
    why: str
    command: tuple[str, ...]
    launcher: str = ""
    gives_way: tuple[str, ...] = ()
    resumes: tuple[str, ...] = ()
    script: str = ""


def launch_of(spec: TrainingJobSpec, folder: Path | None = None) -> Launch:
    """How the command of this job is launched. folder: where spec.local starts it; a script there is looked into."""
    command = command_of(spec)
    launcher, gone = _launcher(command)
    script = script_file(command)
    processes, why = _mode(spec, command, launcher, script, folder)
    return Launch(processes, why, command, launcher, tuple(gone), tuple(_resumes(command)), script)


def command_of(spec: TrainingJobSpec) -> tuple[str, ...]:
    """The words that are started: command and args of the wrapped container, those of spec.local, or the script of
    spec.slurm: a shell's as its text, since it is at hand.
    """
    if spec.local is not None:
        return spec.local.command
    if spec.slurm is not None:
        return _of_script(spec.slurm)
    assert spec.kubernetes is not None
    container = read_pods(spec.kubernetes).wrapped
    return (*container.command, *container.args) if container else ()


def _of_script(slurm: SlurmSpec) -> tuple[str, ...]:
    words = interpreter(slurm.script)
    text = (*words, "-c", slurm.script)
    return text if inline_script(text) else (*words, "script")


def simple_commands(command: Sequence[str]) -> Iterator[list[str]]:
    """The command itself, or those that a shell finds in the text after -c; text that cannot be split gives none."""
    text = inline_script(command)
    if not text:
        yield list(without_front(command))
        return
    try:
        lexer = shlex.shlex(
            _COMMENT.sub("", text).replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars=True
        )
        lexer.commenters = ""
        lexer.whitespace_split = True  # keeps $N and a=b whole
        words = list(lexer)
    except ValueError:
        return
    start = 0
    for at, word in enumerate([*words, ";"]):
        if word in _UNBOUNDED or set(word) <= _OPERATORS:
            variables = takewhile(_ASSIGNMENT.match, words[start:at])
            called = words[start + len(list(variables)) : at]
            if called:
                yield list(without_front(called))
            start = at + 1


def _mode(
    spec: TrainingJobSpec, command: Sequence[str], launcher: str, script: str, folder: Path | None
) -> tuple[str, str]:
    if spec.slurm is not None and calls_srun(spec.slurm.script):
        return BY_SRUN, "the script calls srun, which starts them as its line says"
    if spec.slurm is not None and spec.slurm.launch == PER_TASK:
        return "PerRank", "srun starts each of them, as slurm.launch says"
    if spec.processes is not None:
        return spec.processes, "as spec.processes says"
    if script and folder is not None:
        command = ("sh", str(folder / script))
    elif script:
        return "", f"{script} decides: PerWorker if it calls torchrun, accelerate or deepspeed, else PerRank"
    if default_mode(command) == PER_WORKER:
        return "PerWorker", f"{launcher or script} starts the ranks itself"
    return "PerRank", "the command starts no ranks itself"


def _launcher(command: Sequence[str]) -> tuple[str, list[str]]:
    for words in simple_commands(command):
        found = _giving_way(words)
        if found is not None:
            return found
    return "", []


def _giving_way(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """The launcher of ranks that this command names, and which of its options the job decides."""
    for at, word in enumerate(words):
        name = word if at and words[at - 1] == "-m" else os.path.basename(word)
        kind, own = KINDS.get(name, (None, 0))
        if kind is not None and (not own or words[at + 1 : at + 1 + own] == ["launch"]):
            return kind.name, without_ours(kind, words[at + 1 + own :])[1]
        if at and not word.startswith("-") and words[at - 1] not in ("-X", "-W"):
            break
    return None


def _resumes(command: Sequence[str]) -> Iterator[str]:
    """The options that resume, each with its value."""
    for words in simple_commands(command):
        for at, word in enumerate(words):
            option, equals, _value = word.partition("=")
            if equals and (option in RESUME_OPTIONS or option.lstrip("+") in RESUME_SETTINGS):
                yield word
            elif word in RESUME_OPTIONS:
                following = words[at + 1] if at + 1 < len(words) else "-"
                yield word if following.startswith("-") else f"{word} {following}"

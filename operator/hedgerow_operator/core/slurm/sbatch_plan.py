"""What ``hedgerow sbatch`` submits in place of a user's script, and what follows on it. Pure."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.core.slurm.sbatch_lines import flags_in, header_lines
from hedgerow_operator.core.slurm.sbatch_options import Flag, value_of, without, words_of
from hedgerow_operator.core.slurm.times import duration_seconds

# The time that ranks get to save before the time limit, beyond their grace: Slurm looks every 30 s, and may signal a
# minute early (sbatch(1), --signal).
SIGNAL_SECONDS = 60
_LEAST_SIGNAL_SECONDS, _MOST_SIGNAL_SHARE = 10, 0.75
# Variables that say the same as an option, where their names differ (sbatch(1), INPUT ENVIRONMENT VARIABLES).
_VARIABLES = {"array": "SBATCH_ARRAY_INX", "time": "SBATCH_TIMELIMIT", "verbose": "SBATCH_DEBUG"}
# They change what sbatch prints or waits for, or are about one job of the chain only.
_OF_ONE = ("dependency", "begin", "hold", "wait", "parsable", "quiet", "test-only", "verbose", "array", "wrap",
           "kill-on-invalid-dep")  # fmt: skip
_NOT_SHARED = "hedgerow: {} is not on this node; name a folder of a shared file system with --state-dir"
_NO_PYTHON = "hedgerow: {} is not on this node: {}; install Hedgerow where all nodes see it"
_UNWATCHED, _NOT_BEGUN = "the script runs unwatched", "the script is not begun again, as ranks of before may be alive"
# Says to the supervisor that a batch job came before.
FOLLOWS = "--follows"
# How often Slurm has requeued a batch job, and what scripts know that by.
RESTARTS = "SLURM_RESTART_COUNT"
# Options with which sbatch only prints.
PRINTING = ("help", "usage", "version", "test-only")


class SbatchPlan(Struct, frozen=True, kw_only=True):
    """What was asked for, kept for the batch jobs that follow. name: of the script. flags: words of the command line.
    variables: SBATCH_*. arguments: of the script. directory: where it was given. spec: parts of a TrainingJob's spec.
    added: words that Hedgerow has added to the flags. own_signal: --signal is among them.
    """

    name: str
    flags: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    directory: str = "/"
    spec: dict[str, object] = {}
    added: tuple[str, ...] = ()
    successor: bool = True
    own_signal: bool = True


def given(name: str, flags: Iterable[Flag], script: str, variables: Mapping[str, str]) -> str | None:
    """The value of an option of sbatch: from the command line, else its variable, else the script; None: in none."""
    value = value_of(flags, name)
    if value is None:
        value = variables.get(variable_of(name))
    return value_of(flags_in(script), name) if value is None else value


def variable_of(name: str) -> str:
    """The variable by which sbatch can be told an option too."""
    return _VARIABLES.get(name, f"SBATCH_{name.upper().replace('-', '_')}")


def comment_of(key: str) -> str:
    """What tells the batch jobs of a submission from others that get their numbers later."""
    return f"hedgerow sbatch {key}"


def with_added_flags(plan: SbatchPlan, flags: Sequence[Flag], script: str, grace_seconds: int, key: str) -> SbatchPlan:
    """The plan with the words that sbatch is given beside the user's own."""

    def free(name: str) -> bool:
        return given(name, flags, script, plan.variables) is None

    added = [f"--comment={comment_of(key)}"] if free("comment") else []
    added += ["--no-requeue"] if free("requeue") and free("no-requeue") else []
    own_signal = free("signal")
    if own_signal:
        limit = duration_seconds(given("time", flags, script, plan.variables) or "")
        added.append(f"--signal=B:USR1@{signal_seconds(limit, grace_seconds)}")
    return replace(plan, added=tuple(added), own_signal=own_signal)


def signal_seconds(limit_seconds: float | None, grace_seconds: int) -> int:
    """How long before the time limit the supervisor is told; at most three quarters of it."""
    wanted = SIGNAL_SECONDS + grace_seconds
    if limit_seconds is None:
        return wanted
    return max(_LEAST_SIGNAL_SECONDS, min(wanted, int(limit_seconds * _MOST_SIGNAL_SHARE)))


def successor_flags(plan: SbatchPlan, flags: Sequence[Flag], script: str, after: str, task: str) -> list[str]:
    """Words for the batch job that follows on ``after``: all that was given, in the order in which it counts.

    task: number of the task of an array; "" outside of one.
    """
    in_script = [flag for flag in flags_in(script) if variable_of(flag.name) not in plan.variables]
    words = [*words_of(without((*in_script, *flags), _OF_ONE)), *plan.added]
    words += [f"--dependency=afternotok:{after}", "--kill-on-invalid-dep=yes"]
    words += [f"--array={task}"] if task else []
    # What the one before has printed must not be lost where both write to one file.
    appends = given("open-mode", flags, script, plan.variables) is None
    return words + (["--open-mode=append"] if appends else [])


def wrapper(script: str, python: Sequence[str], folder: str, own_signal: bool, header: bool = True) -> str:
    """The batch script that is submitted: the user's ``#SBATCH`` lines, and the supervisor of the user's script.

    own_signal: the one before the time limit is for the supervisor, and must end nobody who does not wait for it.
    header: False: of a batch job that goes on after another, with all options on its command line.
    """
    lines = header_lines(script) if header else []
    run = shlex.join([*python, "supervise", *([] if header else [FOLLOWS]), folder])
    return "\n".join(
        [
            "#!/bin/sh",
            "# Written by hedgerow sbatch: runs the script that was submitted, and looks after what its sruns start.",
            *lines,
            *(["trap '' USR1"] if own_signal else []),
            f"if [ ! -d {shlex.quote(folder)} ]; then",
            f"  echo {shlex.quote(_NOT_SHARED.format(folder))} >&2",
            "  exit 1",
            "fi",
            f"if [ ! -x {shlex.quote(python[0])} ]; then",
            *_without_python(python[0], folder, header),
            "fi",
            f'exec {run} "$@"',
            "",
        ]
    )


def follows(words: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether a run came before this one, whose ranks may be alive: of another batch job, or of this one, which Slurm
    has requeued. words: of the supervisor.
    """
    return words[:1] == [FOLLOWS] or variables.get(RESTARTS, "0") not in ("", "0")


def _without_python(python: str, folder: str, first: bool) -> list[str]:
    """Nobody can look for what was before: only a script that begins for the first time may run."""
    end = [f"  echo {shlex.quote(_NO_PYTHON.format(python, _NOT_BEGUN))} >&2", "  exit 1"]
    if not first:
        return end
    return [
        f'  if [ "${{{RESTARTS}:-0}}" = 0 ]; then',
        f"    echo {shlex.quote(_NO_PYTHON.format(python, _UNWATCHED))} >&2",
        f'    exec {shlex.quote(folder + "/script")} "$@"',
        "  fi",
        *end,
    ]


def is_script(script: str) -> bool:
    """Whether sbatch takes it: else it is left for sbatch to refuse in its own words."""
    return script.startswith("#!") and "\r\n" not in script and "\0" not in script


def of_wrap(command: str) -> str:
    """The script that sbatch makes of --wrap."""
    return f"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"

"""The command: how it is launched, what of it gives way, and what a shell would do that is not there. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from hedgerow.launch_mode import inline_script
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.launching import BY_SRUN, Launch, simple_commands

_error, _warning, _fine = about("command")

# Programs that start ranks by themselves, under options of their own.
_START_RANKS = (
    "mpirun", "mpiexec", "horovodrun", "srun", "composer", "colossalai", "llamafactory-cli", "axolotl", "tune",
    "nemo", "ray", "swift",
)  # fmt: skip
_SHELL_WORDS = ("&&", "||", "|", ">", ">>", "2>&1", ";")
_PIPE = re.compile(r"(?<!\|)\|(?![|])")


def findings(spec: TrainingJobSpec, launch: Launch) -> Iterator[Finding]:
    """What is to say about the command."""
    yield _mode(spec, launch)
    yield from _numbers(spec, launch)
    yield from _unseen_launchers(spec, launch)
    yield from _words(launch.command)


def _mode(spec: TrainingJobSpec, launch: Launch) -> Finding:
    if not launch.processes:
        return _warning(
            f"{launch.script} cannot be looked into from here, so whether it calls torchrun or the like is decided in "
            "the pod; write processes: PerWorker (it starts the ranks) or PerRank to be sure"
        )
    if launch.processes == BY_SRUN:
        return _fine("the script calls srun, so it is run once, on the first node, and what srun starts is watched")
    times = spec.ranks if launch.processes == "PerRank" else spec.workers
    return _fine(
        f"{launch.processes}, {launch.why}: it is started {times} {'time' if times == 1 else 'times'} for "
        f"{spec.ranks} {'rank' if spec.ranks == 1 else 'ranks'}"
    )


def _numbers(spec: TrainingJobSpec, launch: Launch) -> Iterator[Finding]:
    """The launcher's own numbers, where they differ from the job's or merely give way."""
    if not launch.gives_way:
        return
    ours = {
        "nnodes": spec.workers, "num_machines": spec.workers, "num_nodes": spec.workers,
        "nproc_per_node": spec.ranks_per_worker, "num_gpus": spec.ranks_per_worker, "num_processes": spec.ranks,
    }  # fmt: skip
    differ = [
        f"{option} is {value} there and {ours[option]} here"
        for option, value in _pairs(launch.gives_way)
        if value.isdigit() and option in ours and int(value) != ours[option]
    ]
    told = f"{launch.launcher}'s {shlex.join(launch.gives_way)} give way to workers, ranksPerWorker and Hedgerow's "
    told += "restarts"
    if differ:
        yield _warning(f"{told}; {', '.join(differ)}: change workers or ranksPerWorker if that is not meant")
    else:
        yield _fine(told)


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for at, word in enumerate(words):
        if word.startswith("-"):
            option, equals, value = word.lstrip("-").partition("=")
            following = words[at + 1] if at + 1 < len(words) else ""
            yield option.replace("-", "_"), value if equals else following


def _unseen_launchers(spec: TrainingJobSpec, launch: Launch) -> Iterator[Finding]:
    programs = [words[0].rsplit("/", 1)[-1] for words in simple_commands(launch.command) if words]
    known = [name for name in programs if name in _START_RANKS]
    if known and launch.processes not in ("PerWorker", BY_SRUN):
        yield _warning(
            f"{known[0]} starts ranks by itself, and is started once for each of {spec.ranks} ranks; write "
            "processes: PerWorker, and start as many ranks in each worker as ranksPerWorker says"
        )
    elif (
        spec.processes == "PerWorker" and not (launch.launcher or launch.script or known) and spec.ranks_per_worker > 1
    ):
        yield _warning(
            f"processes: PerWorker starts it once in each worker, and nothing in it is known to start "
            f"{spec.ranks_per_worker} ranks; leave processes out if it is the program of one rank"
        )


def _words(command: tuple[str, ...]) -> Iterator[Finding]:
    script = inline_script(command)
    if len(command) == 1 and " " in command[0]:
        split = ", ".join(command[0].split())
        yield _error(f'"{command[0]}" would be the name of one program; write the words apart: [{split}]')
    elif not script and (shell := [word for word in command if word in _SHELL_WORDS]):
        yield _warning(f'no shell reads "{shell[0]}" here; write [bash, -c, "…"] around the whole command')
    if _PIPE.search(script) and "pipefail" not in script:
        yield _warning(
            "the exit code of what stands before | is lost, so a failed rank would look finished; begin the script "
            "with set -o pipefail"
        )

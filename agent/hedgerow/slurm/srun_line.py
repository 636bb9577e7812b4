"""Puts the launcher before the program in the user's own ``srun`` line; everything else stays as it is. Pure."""

from __future__ import annotations

from typing import List, Mapping, Optional, Sequence

from hedgerow.slurm.srun_options import Given, Line, Unknown, parse

_PREFIX = "HEDGEROW_"
_MPI = "SLURM_MPI_TYPE"
_EXPORT = "SLURM_EXPORT_ENV"  # what sbatch --export leaves for every srun of its script
# These start no step of ours, or one that somebody types into, or send the program itself elsewhere.
_NOT_OURS = (
    "help", "usage", "version", "autocomplete", "test-only", "pty", "interactive", "multi-prog", "bcast", "attach",
    "no-allocate", "external-launcher", "debugger-test", "launch-cmd", "het-group", "pack-group",
)  # fmt: skip
_CONTAINERS = ("container-image", "container-name")


def launcher_words(python: str, archive: str) -> List[str]:
    """What stands before the user's program."""
    return [python, "-E", archive, "run", "--slurm-launch", "auto", "--"]


def program_of(arguments: Sequence[str], more: Optional[Mapping[str, int]] = None) -> List[str]:
    """The user's program and its arguments; empty where there is none, or where it cannot be told.

    more: names of further options of this site's srun (:func:`hedgerow.slurm.srun_options.learned`).
    """
    try:
        return list(arguments[parse(arguments, more).program :])
    except Unknown:
        return []


def why_not(arguments: Sequence[str], variables: Mapping[str, str], more: Optional[Mapping[str, int]] = None) -> str:
    """Why this line is left as it is, in words that follow "because"; empty: it is not. variables: srun's own."""
    try:
        line = parse(arguments, more)
    except Unknown as error:
        return "it is not known whether %s has a value" % error
    if line.program >= len(arguments):
        return "there is no program"
    for name in _NOT_OURS:
        if line.has(name):
            return "of --%s" % name
    job, here = line.last("jobid"), variables.get("SLURM_JOB_ID", "")
    if not here or (job is not None and job.value != here):
        return "it does not run in this job"
    return "several programs run in one step" if ":" in arguments[line.program :] else ""


def with_launcher(
    arguments: Sequence[str],
    launcher: Sequence[str],
    variables: Mapping[str, str],
    mounts: Sequence[str] = (),
    more: Optional[Mapping[str, int]] = None,
) -> List[str]:
    """srun's arguments with ``launcher`` before the program; unchanged where :func:`why_not` says so.

    mounts: folders that the launcher needs, also in a container. variables: srun's own; those of ours reach the tasks.
    """
    if why_not(arguments, variables, more):
        return list(arguments)
    line = parse(arguments, more)
    words = list(arguments[: line.program])
    added = [] if line.has("unbuffered") else ["--unbuffered"]
    launcher = _with_mpi(launcher, line, variables)
    if line.has(*_CONTAINERS):
        # The Python of the container, not that of the host.
        launcher[0] = "python3"
        ours = ",".join("%s:%s" % (folder, folder) for folder in mounts)
        given = line.last("container-mounts")
        if ours and given is None:
            added.append("--container-mounts=" + ours)
        elif ours and given is not None:
            _replace(words, given, "%s,%s" % (given.value, ours) if given.value else ours)
    _export(words, added, line, variables)
    return added + words + launcher + list(arguments[line.program :])


def _with_mpi(launcher: Sequence[str], line: Line, variables: Mapping[str, str]) -> List[str]:
    """The launcher knows when the ranks were started for MPI by the user's own word, not by the site's default."""
    given = line.last("mpi")
    kind = (variables.get(_MPI, "") if given is None else given.value) or ""
    if kind in ("", "none") or "--" not in launcher:
        return list(launcher)
    at = list(launcher).index("--")
    return [*launcher[:at], "--mpi", kind, *launcher[at:]]


def _export(words: List[str], added: List[str], line: Line, variables: Mapping[str, str]) -> None:
    """Where not all variables go to the tasks, ours do."""
    given = line.last("export")
    value = variables.get(_EXPORT, "") if given is None else given.value or ""
    names = [name.partition("=")[0].strip().upper() for name in value.split(",")]
    ours = sorted(name for name in variables if name.startswith(_PREFIX))
    if not value or "ALL" in names or not ours:
        return
    theirs = [] if value.strip().upper() in ("NONE", "NIL") else [value]
    new = ",".join(theirs + ours)
    if given is None:
        added.append("--export=" + new)
    else:
        _replace(words, given, new)


def _replace(words: List[str], option: Given, value: str) -> None:
    """Give a long option another value, without moving what follows."""
    if option.words == 2:
        words[option.at + 1] = value
    else:
        words[option.at] = "%s=%s" % (words[option.at].partition("=")[0], value)

"""The folder whose ``srun`` stands in for the real one, and the variables that make a script find it.

PATH alone is not enough: modules and login shells put other folders before ours. So bash, and what it starts, is also
given a function of that name, which comes before any PATH, and a BASH_ENV that puts our folder first again.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import Dict, List, Mapping

from hedgerow import pack
from hedgerow.log import say

_PROGRAM = "srun"
_BASH = "bash_env"
_ENVIRONMENT = "environment.sh"
_FUNCTION = "BASH_FUNC_srun%%"
# The user's own, which ours begins with.
_THEIRS = "HEDGEROW_BASH_ENV"
_MARK = "# Hedgerow stands in for srun here."

# Without an operator to report to, inside a rank, or switched off: the real one, at once.
_SCRIPT = """#!/bin/sh
{mark}
real=
set -f
IFS=:
for folder in $PATH; do
    [ -n "$folder" ] && [ -f "$folder/srun" ] && [ -x "$folder/srun" ] || continue
    second=
    {{ read -r first; read -r second; }} 2>/dev/null < "$folder/srun"
    [ "$second" = "{mark}" ] && continue
    real=$folder/srun
    break
done
unset IFS
[ -n "$real" ] || real={real}
if [ "${{HEDGEROW-}}" != off ] && [ -n "${{HEDGEROW_ADDRESS_FILE-}}${{HEDGEROW_REPORT_URL-}}${{HEDGEROW_STEPS-}}" ] \\
    && [ -z "${{HEDGEROW_ATTEMPT-}}" ] && [ -z "${{SLURM_STEP_NUM_NODES-}}" ] \\
    && [ -x {python} ] && [ -r {archive} ]; then
    HEDGEROW_SRUN=$real exec {python} -E {archive} srun "$@"
fi
exec "$real" "$@"
"""
# In a subshell of its own (in the background, in a pipe) bash would keep the signals that are meant for srun.
_BODY = """{{
    if [ "$BASHPID" = "$$" ]; then
        {srun} "$@"
        return
    fi
    {srun} "$@" <&0 &
    local child=$! code=0 number
    for number in HUP INT QUIT TERM USR1 USR2 ALRM CONT; do
        trap "kill -$number $child 2>/dev/null" "$number"
    done
    while :; do
        wait "$child" && code=0 || code=$?
        kill -0 "$child" 2>/dev/null || break
    done
    return "$code"
}}"""
_BASH_ENV = """{mark}
if [ -n "${{HEDGEROW_BASH_ENV-}}" ] && [ -r "$HEDGEROW_BASH_ENV" ]; then . "$HEDGEROW_BASH_ENV"; fi
case "$PATH" in {folder}:*) ;; *) PATH={folder}:$PATH ;; esac
"""
_SOURCED = """{mark}
PATH={folder}:$PATH
export PATH
if [ "${{BASH_ENV-}}" != {bash} ]; then
    if [ -n "${{BASH_ENV-}}" ]; then HEDGEROW_BASH_ENV=$BASH_ENV; export HEDGEROW_BASH_ENV; fi
    BASH_ENV={bash}
    export BASH_ENV
fi
if [ -n "${{BASH_VERSION-}}" ]; then
    eval {function}
    export -f srun
fi
"""


def write_shim(directory: str, python: str, archive: str) -> None:
    """Write the folder; OSError when it cannot be. Every file by rename, so that several may do it at once."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    directory = os.path.abspath(directory)
    words = {
        "mark": _MARK,
        "python": shlex.quote(python),
        "archive": shlex.quote(os.path.abspath(archive)),
        "real": shlex.quote(_real(directory)),
        "folder": shlex.quote(directory),
        "bash": shlex.quote(os.path.join(directory, _BASH)),
        "function": shlex.quote("srun() " + _body(directory)),
    }
    for name, text, mode in (
        (_PROGRAM, _SCRIPT, 0o700),
        (_BASH, _BASH_ENV, 0o600),
        (_ENVIRONMENT, _SOURCED, 0o600),
    ):
        _write(os.path.join(directory, name), text.format(**words), mode)


def shim_environment(inherited: Mapping[str, str], directory: str) -> Dict[str, str]:
    """The variables of a script that is to find our srun: the inherited ones, changed."""
    directory = os.path.abspath(directory)
    bash = os.path.join(directory, _BASH)
    variables = dict(inherited)
    variables["PATH"] = os.pathsep.join([directory] + _without(inherited.get("PATH", os.defpath), directory))
    variables[_FUNCTION] = "() " + _body(directory)
    if inherited.get("BASH_ENV") not in (None, "", bash):
        variables[_THEIRS] = inherited["BASH_ENV"]
    variables["BASH_ENV"] = bash
    return variables


def main(arguments: List[str]) -> int:
    """``hedgerow.pyz shim DIRECTORY``: write the folder; then ``. DIRECTORY/environment.sh`` makes a script use it."""
    archive = pack.archive_of_this_package()
    if len(arguments) != 1 or arguments[0].startswith("-") or archive is None:
        say("write `python3 hedgerow.pyz shim DIRECTORY`, with the folder to make")
        return 2
    try:
        write_shim(arguments[0], sys.executable, archive)
    except OSError as error:
        say("%s cannot be written: %s" % (arguments[0], error.strerror or error))
        return 1
    return 0


def _body(directory: str) -> str:
    return _BODY.format(srun=shlex.quote(os.path.join(directory, _PROGRAM)))


def _real(directory: str) -> str:
    """Where srun is now: the last resort of a script that has lost its PATH."""
    path = os.pathsep.join(_without(os.environ.get("PATH", os.defpath), directory))
    return shutil.which(_PROGRAM, path=path) or "/usr/bin/srun"


def _without(path: str, directory: str) -> List[str]:
    return [entry for entry in path.split(os.pathsep) if entry != directory]


def _write(path: str, text: str, mode: int) -> None:
    part = "%s.part-%d" % (path, os.getpid())
    with open(part, "w") as file:
        file.write(text)
    os.chmod(part, mode)
    os.replace(part, path)

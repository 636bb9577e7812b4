"""The process beside the operator: reads one call a line, answers one line each, and ends with its input."""

import os
import re
import subprocess
import sys
from typing import Any, BinaryIO

import msgspec

from hedgerow_operator.adapters.slurm.pyslurm.calls import Calls, slurm_variables
from hedgerow_operator.adapters.slurm.pyslurm.lines import WrongVersion
from hedgerow_operator.core.slurm.seen import Submission

REFUSED = "refused"
UNREACHABLE = "unreachable"
_VERSION_SECONDS = 10.0


class Call(msgspec.Struct, frozen=True):
    """method: of the driver. arguments: in its order."""

    method: str
    arguments: list[Any] = []


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """result; or, where error says something, what kind of failure it is."""

    result: Any = None
    kind: str = ""
    error: str = ""


def main() -> int:
    """Serve until the operator closes the pipe. What pyslurm prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    for name in slurm_variables():
        del os.environ[name]
    serve(sys.stdin.buffer, answers)
    return 0


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """One answer for each line."""
    calls: Calls | None = None
    for line in questions:
        if calls is None:
            calls, why = _ready()
        reply = Reply(kind=UNREACHABLE, error=why) if calls is None else _answer(calls, line)
        answers.write(msgspec.json.encode(reply) + b"\n")


def _ready() -> tuple[Calls | None, str]:
    try:  # its licence stays in this process
        import pyslurm  # type: ignore[import-not-found]
    except Exception as error:  # noqa: BLE001 (with a wrong libslurm it may raise anything)
        return None, (
            f"pyslurm cannot be imported ({error}); install the pyslurm of your Slurm's version, or use the CLI driver"
        )
    try:
        return Calls(pyslurm, _slurm_version()), ""
    except WrongVersion as error:
        return None, str(error)


def _answer(calls: Calls, line: bytes) -> Reply:
    call = msgspec.json.decode(line, type=Call)
    arguments = list(call.arguments)
    if call.method == "submit":
        arguments = [msgspec.convert(arguments[0], Submission)]
    try:
        return Reply(result=getattr(calls, call.method)(*arguments))
    except Exception as error:  # noqa: BLE001 (pyslurm's errors are made in C)
        return Reply(kind=calls.kind_of(error), error=str(error) or type(error).__name__)


def _slurm_version() -> str:
    try:
        told = subprocess.run(
            ["scontrol", "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.search(r"\d+\.\d+(?:\.\d+)?", told)
    return found[0] if found else ""


if __name__ == "__main__":
    sys.exit(main())

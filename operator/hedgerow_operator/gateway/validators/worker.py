"""A process that checks answers: what is slow, or takes much memory, or breaks, does so here and not in the gateway.

Reads questions from its standard input and writes findings to its standard output; ends when the gateway does.
"""

import contextlib
import os
import resource
import signal
import sys
from typing import BinaryIO

import msgspec

from hedgerow_operator.gateway.validators.asked import HEAD_BYTES, Finding, Question
from hedgerow_operator.gateway.validators.finding import found, look_of_json

# Enough for the largest image and sound that are looked at.
_MOST_MEMORY = 4 << 30
_NICE = 5
# The gateway ends a process that takes too long; one whose gateway was killed in the meantime ends itself.
_LONGEST_SECONDS = 60


def main() -> None:
    """Until the end of the input."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a plugin prints must not come between findings.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    os.nice(_NICE)
    questions, decoder = sys.stdin.buffer, msgspec.msgpack.Decoder(Question)
    while body := _read(questions):
        signal.alarm(_LONGEST_SECONDS)
        finding = msgspec.msgpack.encode(_finding(decoder.decode(body)))
        signal.alarm(0)
        answers.write(len(finding).to_bytes(HEAD_BYTES, "big") + finding)
        answers.flush()


def _finding(question: Question) -> Finding:
    try:
        look = look_of_json(msgspec.json.encode(question.check))
    except ValueError as error:
        return Finding(fault=str(error))
    return found(look, question.seen)


def _read(questions: BinaryIO) -> bytes:
    """One question; empty at the end."""
    size = int.from_bytes(questions.read(HEAD_BYTES), "big")
    body = questions.read(size) if size else b""
    return body if len(body) == size else b""


if __name__ == "__main__":
    main()

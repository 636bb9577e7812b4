"""The end of what a process printed, as a message quotes it."""

from hedgerow_operator.core.attribution.log.event import shortened

# A loader's or an interpreter's complaint is one line; what led to it often stands in the one before.
_LINES = 2
# What a container's termination message holds at most (Kubernetes API, Container.terminationMessagePath: 4096 bytes
# of a file; 2048 bytes or 80 lines of the log).
TAIL_BYTES = 2048


def last_words(output: str) -> str:
    """The last lines that say anything, as one line of a few hundred characters; empty when there is none."""
    lines = [words for line in output[-TAIL_BYTES:].splitlines() if (words := shortened(line))]
    return " | ".join(lines[-_LINES:])

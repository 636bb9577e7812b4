"""What tells our Slurm jobs from all others: their comment, since numbers are given again after a loss of state."""

import re

_FIRST_WORD = "hedgerow"
_OURS = re.compile(rf"{_FIRST_WORD}:([^:]+):([0-9]+)(?::[0-9]+=[0-9]+)?")


def comment_of(uid: str, attempt: int) -> str:
    """The comment of the placement that this attempt is the first of."""
    return f"{_FIRST_WORD}:{uid}:{attempt}"


def comment_of_run(uid: str, first: int, run: int, attempt: int) -> str:
    """The comment of a batch job that is requeued: what it began as, and which attempt its run of this number is."""
    return f"{comment_of(uid, first)}:{run}={attempt}"


def read_comment(comment: str) -> tuple[str, int] | None:
    """uid and first attempt; None: not one of ours."""
    found = _OURS.fullmatch(comment)
    return (found[1], int(found[2])) if found else None

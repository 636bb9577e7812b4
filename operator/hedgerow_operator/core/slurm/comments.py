"""What tells our Slurm jobs from all others: their comment, since numbers are given again after a loss of state."""

_FIRST_WORD = "hedgerow"


def comment_of(uid: str, attempt: int) -> str:
    """The comment of the placement that this attempt is the first of."""
    return f"{_FIRST_WORD}:{uid}:{attempt}"


def read_comment(comment: str) -> tuple[str, int] | None:
    """uid and attempt; None: not one of ours."""
    words = comment.split(":")
    if len(words) != 3 or words[0] != _FIRST_WORD or not words[1] or not words[2].isdecimal():
        return None
    return words[1], int(words[2])

"""How faults of our own are told: where they were raised, never with their text, which may quote a request."""

from traceback import extract_tb


def where(error: BaseException) -> str:
    """``ValueError at app.py:12``: the kind of an error and where it was raised."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"

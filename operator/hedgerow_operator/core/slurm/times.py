"""Slurm's durations and moments as text."""

import datetime
import math
import re

# `D-HH:MM:SS`, `D-HH:MM`, `D-HH`, `HH:MM:SS`, `MM:SS`, `MM`: man sbatch, --time.
_WITH_DAYS = re.compile(r"(\d{1,9})-(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?")
_WITHOUT_DAYS = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})(?:\.\d+)?")
_MINUTES = re.compile(r"\d{1,9}")
_UNLIMITED = ("UNLIMITED", "INFINITE", "-1")
_EPOCH = re.compile(r"\d{1,12}")


def duration_seconds(text: str) -> float | None:
    """Seconds of a duration; None for UNLIMITED, INVALID, N/A and whatever else is no number of it."""
    text = text.strip()
    if match := _WITH_DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    if match := _WITHOUT_DAYS.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return float((hours * 60 + minutes) * 60 + seconds)
    return float(text) * 60 if _MINUTES.fullmatch(text) else None


def minutes(text: str) -> int | None:
    """Whole minutes, rounded up, of what sbatch takes as --time; None: UNLIMITED. ValueError says what to write."""
    if text.strip().upper() in _UNLIMITED:
        return None
    seconds = duration_seconds(text)
    if seconds is None:
        raise ValueError(f"{text!r} is no time limit: write minutes, HH:MM:SS or D-HH:MM:SS, or UNLIMITED")
    return math.ceil(seconds / 60)


def moment(text: str) -> float | None:
    """Epoch seconds; None for Unknown, N/A, NONE, 0 and the like. Without a zone it is a time of this machine's."""
    text = text.strip()
    if _EPOCH.fullmatch(text):
        return float(text) or None
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None

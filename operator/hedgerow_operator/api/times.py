"""RFC 3339 text in the API, seconds since the epoch in the code."""

from __future__ import annotations

from datetime import UTC, datetime

_LAST = 253_402_300_799.0  # the end of the year 9999


def moment_of(seconds: float) -> datetime:
    """The moment in UTC; before 1970, after the year 9999 or NaN: the nearest that can be written (NaN: 1970)."""
    return datetime.fromtimestamp(min(max(0.0, seconds), _LAST), UTC)


def format_time(seconds: float) -> str:
    """``2026-01-02T03:04:05Z`` for seconds since the epoch; fractions are cut, and see :func:`moment_of`."""
    return moment_of(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> float:
    """Seconds since the epoch; ValueError when ``text`` is not RFC 3339 with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f'"{text}" has no time zone; write it like 2026-01-02T03:04:05Z')
    return moment.timestamp()


def parse_optional_time(text: str | None) -> float | None:
    """As :func:`parse_time`, and None for None."""
    return None if text is None else parse_time(text)

"""Durations and moments in Slurm's forms."""

import pytest

from hedgerow_operator.core.slurm.times import duration_seconds, minutes, moment

DAY = 86400.0
DURATIONS = {
    "days and a time (s03)": ("7-15:37:35", 7 * DAY + 15 * 3600 + 37 * 60 + 35),
    "a limit of days (s03)": ("8-08:00:00", 8 * DAY + 8 * 3600),
    "minutes and seconds (s03)": ("2:43", 163.0),
    "hours": ("01:00:05", 3605.0),
    "days and hours": ("1-12", 1.5 * DAY),
    "days, hours and minutes": ("1-12:30", 1.5 * DAY + 1800),
    "minutes alone": ("20", 1200.0),
    "parts of a second": ("00:10.500", 10.0),
    "no limit": ("UNLIMITED", None),
    "the partition's": ("Partition_Limit", None),
    "a broken clock": ("INVALID", None),
    "none": ("N/A", None),
    "nothing": ("", None),
    "more digits than any time has": ("9" * 5000, None),
}
LIMITS = {
    "minutes": ("90", 90),
    "seconds are rounded up": ("1:01", 2),
    "days": ("2-00:00:00", 2880),
    "no limit": ("UNLIMITED", None),
    "no limit, in the other word": ("infinite", None),
}
MOMENTS = {
    "epoch seconds": ("1796077036", 1796077036.0),
    "with a zone": ("2023-09-21T00:21:42+00:00", 1695255702.0),
    "not yet": ("Unknown", None),
    "not applicable": ("N/A", None),
    "none": ("NONE", None),
    "zero is none": ("0", None),
    "nothing": ("", None),
    "a year beyond the calendar": ("99999-01-01T00:00:00", None),
}


@pytest.mark.parametrize(("text", "seconds"), DURATIONS.values(), ids=DURATIONS)
def test_a_duration_is_read(text: str, seconds: float | None) -> None:
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize(("text", "count"), LIMITS.values(), ids=LIMITS)
def test_a_time_limit_is_whole_minutes(text: str, count: int | None) -> None:
    assert minutes(text) == count


def test_what_is_no_time_limit_says_what_to_write() -> None:
    with pytest.raises(ValueError, match="write minutes, HH:MM:SS or D-HH:MM:SS, or UNLIMITED"):
        minutes("two days")


@pytest.mark.parametrize(("text", "seconds"), MOMENTS.values(), ids=MOMENTS)
def test_a_moment_is_read(text: str, seconds: float | None) -> None:
    assert moment(text) == seconds


def test_a_moment_without_a_zone_is_one_of_this_machine() -> None:
    found = moment("2026-11-30T22:14:32")
    assert found is not None
    assert abs(found - 1796076872.0) <= 14 * 3600

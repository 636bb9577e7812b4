"""Times in the API are RFC 3339 in UTC."""

from __future__ import annotations

import pytest

from hedgerow_operator.api.times import format_time, parse_optional_time, parse_time

SAME_MOMENT = {
    "as we write it": "2026-01-02T03:04:05Z",
    "with an offset": "2026-01-02T04:04:05+01:00",
    "with micros, as Kubernetes writes MicroTime": "2026-01-02T03:04:05.000000Z",
}


@pytest.mark.parametrize("text", SAME_MOMENT.values(), ids=SAME_MOMENT.keys())
def test_every_way_of_writing_a_moment_is_read(text: str) -> None:
    assert parse_time(text) == 1_767_323_045.0


def test_a_time_is_written_in_whole_seconds_of_utc() -> None:
    assert format_time(1_767_323_045.999) == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1e308, "9999-12-31T23:59:59Z"), (float("inf"), "9999-12-31T23:59:59Z"), (-1.0, "1970-01-01T00:00:00Z"),
     (-1e308, "1970-01-01T00:00:00Z"), (float("nan"), "1970-01-01T00:00:00Z")],
)
def test_a_time_that_no_calendar_holds_is_written_as_the_nearest(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@pytest.mark.parametrize("text", ["2026-01-02T03:04:05", "yesterday"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_time(text)


def test_no_time_stays_no_time() -> None:
    assert parse_optional_time(None) is None
    assert parse_optional_time("1970-01-01T00:00:01Z") == 1.0

"""When providers say to come again."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from hedgerow_operator.adapters.providers.retry_after import retry_after

_DATE = "Tue, 01 Jan 2030 00:00:00 GMT"

CASES: dict[str, tuple[dict[str, str], Any, float | None]] = {
    "seconds": ({"Retry-After": "7"}, None, 7.0),
    "a fraction of a second": ({"retry-after": "0.5"}, None, 0.5),
    "a date is held against the provider's own clock": (
        {"Retry-After": "Tue, 01 Jan 2030 00:00:09 GMT", "Date": _DATE},
        None,
        9.0,
    ),
    "a date without the provider's clock says nothing": ({"Retry-After": _DATE}, None, None),
    "a date that is over means now": ({"Retry-After": "Mon, 31 Dec 2029 00:00:00 GMT", "Date": _DATE}, None, 0.0),
    "days are an outage, which is looked at within the hour": ({"Retry-After": "400000"}, None, 3600.0),
    "not a number": ({"Retry-After": "nan"}, None, None),
    "endless": ({"Retry-After": "inf"}, None, None),
    "before now": ({"Retry-After": "-5"}, None, None),
    "words": ({"Retry-After": "soon"}, {"retry_after": 3}, 3.0),
    "RateLimit of RunPod": ({"RateLimit": '"minute";r=0;t=12'}, None, 12.0),
    "the longest of the policies that are used up": (
        {"RateLimit": '"minute";r=0;t=12, "hour";r=0;t=900, "day";r=5;t=9000'},
        None,
        900.0,
    ),
    "a policy that is not used up is no reason": ({"RateLimit": '"minute";r=3;t=12'}, None, None),
    "RateLimit-Reset": ({"RateLimit-Reset": "4"}, None, 4.0),
    "a threshold between two calls": ({}, {"detail": "API requests too frequent endpoint threshold=4.5"}, 4.5),
    "the same as plain text": ({}, "API requests too frequent endpoint threshold=4.5", 4.5),
    "a sentence": ({}, {"detail": "Request was throttled. Your rate limit resets in ~30s."}, 30.0),
    "another sentence": ({}, {"error": "Please try again in 20 s"}, 20.0),
    "a field": ({}, {"error": "slow", "retry_after": 2}, 2.0),
    "a field within the error": ({}, {"error": {"retry_after": 2.5}}, 2.5),
    "a field of another type": ({}, {"retry_after": "x" * 10}, None),
    "nothing": ({}, None, None),
    "a list": ({}, [1, 2], None),
}


@pytest.mark.parametrize("case", CASES)
def test_each_shape_is_understood(case: str) -> None:
    headers, body, expected = CASES[case]
    assert retry_after(CIMultiDict(headers), body) == expected


@given(st.text(max_size=80), st.text(max_size=80), st.one_of(st.none(), st.text(max_size=300), st.integers()))
def test_whatever_is_said_gives_a_time_within_the_hour_or_none(header: str, limit: str, body: Any) -> None:
    found = retry_after(CIMultiDict({"Retry-After": header, "RateLimit": limit, "Date": header}), {"detail": body})
    assert found is None or 0.0 <= found <= 3600.0

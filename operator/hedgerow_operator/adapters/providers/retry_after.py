"""When a provider says to come again, in the shapes in which they say it. Of their clocks only spans count."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from hedgerow_operator.adapters.providers.values import mapping, number, text

# Longer is no pause but an outage; it is asked again after so long.
_LONGEST = 3600.0
# RateLimit: "minute";r=0;t=12 (draft-ietf-httpapi-ratelimit-headers): remaining, and seconds until there are more.
_POLICY = re.compile(r"r=(\d+)\s*;\s*t=(\d+)")
# Vast: "API requests too frequent endpoint threshold=4.5": seconds between two calls.
_THRESHOLD = re.compile(r"threshold=(\d+(?:\.\d+)?)")
# Replicate: "Your rate limit resets in ~30s."
_RESETS = re.compile(r"(?:resets?|again|retry)[^.\d]{0,30}?(\d+(?:\.\d+)?)\s?s", re.IGNORECASE)


def retry_after(headers: Mapping[str, str], body: Any) -> float | None:
    """Seconds, at most an hour. headers: case-insensitive. body: decoded JSON, or text; None: it does not say."""
    for found in (_header(headers), _rate_limit(headers), _body(body)):
        if found is not None:
            return min(max(found, 0.0), _LONGEST)
    return None


def _header(headers: Mapping[str, str]) -> float | None:
    given = headers.get("Retry-After", headers.get("RateLimit-Reset", "")).strip()
    if not given:
        return None
    try:
        return number(float(given))
    except ValueError:
        pass
    try:
        # Both times are of the same clock, so its error is in neither.
        span = parsedate_to_datetime(given) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):
        return None
    return span.total_seconds()


def _rate_limit(headers: Mapping[str, str]) -> float | None:
    spans = [float(span) for left, span in _POLICY.findall(headers.get("RateLimit", "")) if int(left[:9]) == 0]
    return max(spans, default=None)


def _body(body: Any) -> float | None:
    said = mapping(body)
    for field in ("retry_after", "retryAfter"):
        found = number(said.get(field, mapping(said.get("error")).get(field)))
        if found is not None:
            return found
    sentence = (text(said.get("detail")) or text(said.get("error")) if said else text(body))[:500]
    match = _THRESHOLD.search(sentence) or _RESETS.search(sentence)
    return float(match[1]) if match else None

"""Progress bars of tqdm: ` 12%|█▏  | 12/100 [00:34<04:10,  2.84s/it, loss=0.3]`."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

_BAR = re.compile(
    r"(?:^|[\r\s])([^|\r]{0,60}?)\s*(?:\d{1,3}%)?\|[^|]{0,200}\|\s*(\d+)/(\d+|\?) "
    r"\[(?:(\d+):)?(\d+):(\d\d)<([^,\]]*),\s*([^,\]]*)(?:,\s*([^\]]*))?"
)
MARKERS = (b"it/s", b"s/it", b"?it")


class Bar(NamedTuple):
    """title: text before the bar. elapsed: seconds since the bar began. more: what follows the rate."""

    title: str
    done: int
    total: Optional[int]
    elapsed: float
    more: str


def find_bar(text: str) -> Optional[Bar]:
    """The last bar of a line, None without one."""
    bars = list(_BAR.finditer(text))
    if not bars:
        return None
    title, done, total, hours, minutes, seconds, _left, _rate, more = bars[-1].groups()
    elapsed = int(hours or 0) * 3600.0 + int(minutes) * 60.0 + int(seconds)
    return Bar(title.strip().rstrip(":").strip(), int(done), None if total == "?" else int(total), elapsed, more or "")

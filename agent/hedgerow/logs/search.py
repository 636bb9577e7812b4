"""Finds the lines of a block that hold one of some literal markers, without touching the others."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, Set, Tuple

from hedgerow.logs.blocks import LONGEST_LINE


def marked_lines(block: bytes, markers: Iterable[bytes]) -> Iterator[Tuple[bytes, Set[bytes]]]:
    """Each line of ``block`` (whole lines) with a marker, in order, and the markers that it holds."""
    found: Dict[int, Set[bytes]] = {}
    ends: Dict[int, int] = {}
    for marker in markers:
        at = block.find(marker)
        while at >= 0:
            start = block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at)
            found.setdefault(start, set()).add(marker)
            ends[start] = end
            at = block.find(marker, end + 1)
    for start in sorted(found):
        yield block[start: min(ends[start], start + LONGEST_LINE)], found[start]

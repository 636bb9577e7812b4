"""Reads training output of whatever format, as it comes."""

from __future__ import annotations

import collections
from typing import Counter, Dict, Iterable, List, Optional, Sequence, Tuple

from hedgerow.logs.blocks import Blocks
from hedgerow.logs.clock import LogClock
from hedgerow.logs.endings import Endings
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.formats.deepspeed import DeepSpeed
from hedgerow.logs.formats.dllogger import DLLogger
from hedgerow.logs.formats.dlrover import DLRover
from hedgerow.logs.formats.huggingface import HuggingFace
from hedgerow.logs.formats.json_lines import JSONLines
from hedgerow.logs.formats.launcher import Launcher
from hedgerow.logs.formats.lightning import Lightning
from hedgerow.logs.formats.megatron import Megatron
from hedgerow.logs.formats.mlperf import MLPerf
from hedgerow.logs.formats.nanogpt import NanoGPT
from hedgerow.logs.formats.nemo import NeMo
from hedgerow.logs.formats.pattern import Pattern
from hedgerow.logs.formats.torchtitan import Torchtitan
from hedgerow.logs.line import Line
from hedgerow.logs.observation import Observation
from hedgerow.logs.search import marked_lines

AUTO = "auto"
# The order in which formats are asked: a line belongs to the first that reads it, the more particular ones first.
_FORMATS = (
    MLPerf, NeMo, Megatron, DeepSpeed, DLRover, DLLogger, JSONLines, Torchtitan, HuggingFace, Lightning, NanoGPT,
)
NAMES = tuple(kind.name for kind in _FORMATS)
# After this much without a format that is new, only every so many blocks are searched for others.
_SETTLED_BYTES = 1 << 20
_LOOK_EVERY = 32


class AutoReader:
    """Feeds on bytes, gives observations, each with the time by the log's own clock (see :class:`LogClock`).

    Formats are found by the lines that they can read and may be mixed. Memory is constant, whatever comes.
    ``only``: the name of one format, or ``auto``. ``pattern``: a user's expression, that is then the only format.
    Raises ValueError with one sentence for a name or pattern that is wrong.
    """

    def __init__(self, only: str = AUTO, pattern: Optional[str] = None) -> None:
        self.clock = LogClock()
        self.counts: Counter[str] = collections.Counter()
        self._blocks = Blocks()
        self._always = (Launcher(), Endings())
        self._formats = _formats(only, pattern)
        self._auto = only == AUTO and pattern is None
        self._known: List[LineFormat] = [] if self._auto else list(self._formats)
        self._since_new = 0
        self._block_number = 0

    @property
    def format(self) -> Optional[str]:
        """The format with the most progress lines so far, None before there was one."""
        return self.counts.most_common(1)[0][0] if self.counts else None

    def feed(self, data: bytes) -> List[Observation]:
        """What the lines say that ``data`` completes."""
        return [seen for block in self._blocks.feed(data) for seen in self._read(block)]

    def finish(self) -> List[Observation]:
        """What the last, unfinished line says."""
        block = self._blocks.finish()
        return self._read(block) if block else []

    def _read(self, block: bytes) -> List[Observation]:
        readers = self._readers()
        markers = {marker for reader in readers for marker in reader.markers}
        if any(not reader.markers for reader in readers):
            markers.add(b"\n")
        said: List[Observation] = []
        found_new = False
        for raw, held in marked_lines(block, markers):
            line = Line(raw)
            for reader in readers:
                seen = reader.read(line) if not reader.markers or not held.isdisjoint(reader.markers) else []
                if seen:
                    said += [self._timed(entry) for entry in seen]
                    found_new |= self._count(reader, seen)
                    break
        self._block_number += 1
        self._since_new = 0 if found_new or not self._known else self._since_new + len(block)
        return said

    def _readers(self) -> Sequence[LineFormat]:
        looking = self._auto and (self._since_new < _SETTLED_BYTES or self._block_number % _LOOK_EVERY == 0)
        return [*(self._formats if looking else self._known), *self._always]

    def _count(self, reader: LineFormat, seen: Iterable[Observation]) -> bool:
        if reader in self._always or not any(entry.boundary for entry in seen):
            return False
        self.counts[reader.name] += 1
        if reader in self._known:
            return False
        self._known = [entry for entry in self._formats if entry in self._known or entry is reader]
        return True

    def _timed(self, seen: Observation) -> Observation:
        return seen._replace(time=self.clock.read(seen), zoned=True)


def _formats(only: str, pattern: Optional[str]) -> Tuple[LineFormat, ...]:
    if pattern is not None:
        return (Pattern(pattern),)
    kinds: Dict[str, type] = {kind.name: kind for kind in _FORMATS}
    if only == AUTO:
        return tuple(kind() for kind in _FORMATS)
    if only not in kinds:
        raise ValueError("there is no log format %r; write auto or one of: %s" % (only, ", ".join(NAMES)))
    return (kinds[only](),)

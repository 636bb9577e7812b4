"""Lines that tell of the end of a run, whatever the format: Slurm's notices, signals, exceptions, crashes."""

from __future__ import annotations

import re
from typing import List, Tuple

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line, find_clock
from hedgerow.logs.observation import Observation

_LONGEST_TEXT = 300
_SLURM = re.compile(r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT (\S+)(.*)")
_SLURM_CAUSES = (
    ("DUE TO TIME LIMIT", names.TIME_LIMIT),
    ("DUE TO PREEMPTION", names.PREEMPTED),
    ("DUE TO JOB REQUEUE", names.PREEMPTED),
    ("DUE TO NODE FAILURE", names.NODE_FAILED),
)
_EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Expired)(?:: .*)?:?$")
_KINDS: Tuple[Tuple["re.Pattern[str]", str], ...] = (
    (re.compile(r"oom[-_]kill|Out [Oo]f [Mm]emory|OutOfMemoryError|\bOOMKilled\b|CUDA out of memory"),
     names.OUT_OF_MEMORY),
    (re.compile(r"\bNODE_FAIL\b|due to node failure"), names.NODE_FAILED),
    (re.compile(r"what\(\):.*CUDA error|\bCUDA error: (?:unknown error|an illegal memory|uncorrectable|device-side|"
                r"unspecified launch|misaligned|hardware)|uncorrectable ECC|fallen off the bus"), names.DEVICE_ERROR),
    (re.compile(r"\bterminate called\b|Fatal Python error:|Segmentation fault|Bus error"), names.CRASH),
    (re.compile(r"Received SIGTERM|got SIGTERM|received signal SIGTERM|Signal 15 \(SIGTERM\)"), names.TERMINATED),
    (re.compile(r"\b[Ee]xit(?:ed with|s with| with)? (?:exit )?code:? (?!0\b)-?\d+|\bexitcode\s*: (?!0\b)-?\d+"),
     names.EXIT),
)


class Endings(LineFormat):
    """Says only what a line says: what follows from it is decided elsewhere."""

    name = "endings"
    markers = (b"rror", b"xception", b"SIGTERM", b"terminate called", b"xit code")

    def read(self, line: Line) -> List[Observation]:
        slurm = _SLURM.search(line.text)
        if slurm:
            time, zoned = find_clock(slurm.group(1))
            causes = [ending for words, ending in _SLURM_CAUSES if words in slurm.group(2)]
            ending = causes[0] if causes else names.CANCELLED
            return [self.say(line, ending=ending, text=_text(slurm.group()), time=time, zoned=zoned, rank=None)]
        words = line.words.strip()
        for pattern, ending in _KINDS:
            if pattern.search(words):
                return [self.say(line, ending=ending, text=_text(words))]
        if _EXCEPTION.match(words):
            return [self.say(line, ending=names.EXCEPTION, text=_text(words))]
        return []


def _text(words: str) -> str:
    return words[:_LONGEST_TEXT]

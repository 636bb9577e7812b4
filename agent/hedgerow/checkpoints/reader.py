"""Reads one checkpoint directory: finds the candidates and judges each, remembering what has not changed."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Dict, List, Optional, Tuple

from hedgerow.checkpoints import huggingface
from hedgerow.checkpoints.candidates import Candidate, Entry, find, list_entries
from hedgerow.checkpoints.contents import check_file
from hedgerow.checkpoints.finding import COMPLETE, Finding, invalid, not_verified, worst
from hedgerow.checkpoints.names import EXTENSIONS, IN_PROGRESS
from hedgerow.options import VERIFY_CONTENT, VERIFY_MARKERS
from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, Checkpoint, CheckpointScan

REPORTED = 8
COMPLETE_REPORTED = 2
# While ranks live, a directory with thousands of unusable candidates is not read to its end at every look. A quiet look
# is: the next start is chosen by it, and a job must not lose what lies behind them.
LOOKED_AT = 64
# The year 9999: a file system can hold times that no calendar knows.
_LATEST_SECONDS = 253402300799.0
# What changed less than this ago, while ranks live, may still be being written.
SETTLED_SECONDS = 1.0
LAYOUT_FILE = "file"
LAYOUT_SHARDS = "shards"
LAYOUT_UNKNOWN = "unknown"

Fingerprint = Tuple[Tuple[str, int, int], ...]


@dataclasses.dataclass(frozen=True)
class _Look:
    """One candidate at one moment: the files in it, by name, and the folders in it."""

    candidate: Candidate
    files: Dict[str, Entry]
    folders: Tuple[str, ...]
    trainer_siblings: bool
    most_shards: int

    @property
    def fingerprint(self) -> Fingerprint:
        return tuple(sorted((entry.path, entry.size, entry.mtime_ns) for entry in self.files.values()))

    @property
    def newest_ns(self) -> int:
        times = [entry.mtime_ns for entry in self.files.values()] or [self.candidate.entries[0].mtime_ns]
        return max(times)


class Reader:
    """Looks at ``directory`` again and again; ``verify`` is Content, Size or Markers."""

    def __init__(self, directory: str, verify: str = VERIFY_CONTENT) -> None:
        self._directory = directory
        self._verify = verify
        self._checked: Dict[Tuple[str, int, int], Finding] = {}
        self._used: Dict[Tuple[str, int, int], Finding] = {}
        self._before: Dict[str, Fingerprint] = {}

    def scan(self, quiet: bool) -> CheckpointScan:
        """The newest candidates. quiet: nobody is writing, so that what is there has settled."""
        try:
            found = find(list_entries(self._directory))
        except FileNotFoundError:
            return CheckpointScan(quiet=quiet)
        except OSError as error:
            return CheckpointScan(error="%s: %s" % (self._directory, error.strerror or error), quiet=quiet)
        self._used = {}
        candidates = self._judge_newest(found, quiet)
        self._checked = self._used
        return CheckpointScan(candidates=candidates, quiet=quiet)

    def _judge_newest(self, found: List[Candidate], quiet: bool) -> List[Checkpoint]:
        examined = found if quiet else found[:LOOKED_AT]
        trainer = any(os.path.exists(os.path.join(c.path, huggingface.STATE)) for c in examined if c.is_folder)
        most_shards = max([len(candidate.entries) for candidate in found], default=0)
        seen: Dict[str, Fingerprint] = {}
        judged: List[Checkpoint] = []
        complete = 0
        for candidate in examined:
            if len(judged) >= REPORTED and complete >= COMPLETE_REPORTED:
                break
            look = _look(candidate, trainer, most_shards)
            seen[candidate.path] = look.fingerprint
            checkpoint = self._judge(look, quiet)
            if len(judged) < REPORTED or checkpoint.validity == CHECKPOINT_COMPLETE:
                judged.append(checkpoint)
                complete += checkpoint.validity == CHECKPOINT_COMPLETE
        self._before = seen
        return judged

    def _judge(self, look: _Look, quiet: bool) -> Checkpoint:
        try:
            layout, finding = self._finding(look)
        except Exception as error:  # noqa: BLE001 (one odd file must not cost the other candidates)
            layout, finding = LAYOUT_UNKNOWN, not_verified("it cannot be looked into: %s" % (error or repr(error)))
        if not quiet and not self._has_settled(look):
            finding = not_verified("it is still being written")
        return Checkpoint(
            step=look.candidate.step,
            path=look.candidate.path,
            validity=finding.validity,
            reason=finding.reason,
            layout=layout,
            written=min(max(0.0, look.newest_ns / 1e9), _LATEST_SECONDS),
            size=sum(entry.size for entry in look.files.values()),
        )

    def _has_settled(self, look: _Look) -> bool:
        before = self._before.get(look.candidate.path)
        if before is not None:
            return before == look.fingerprint
        return time.time() - look.newest_ns / 1e9 >= SETTLED_SECONDS

    def _finding(self, look: _Look) -> Tuple[str, Finding]:
        candidate = look.candidate
        if candidate.is_folder:
            layout, finding = self._judge_folder(look)
        else:
            layout = LAYOUT_FILE if len(candidate.entries) == 1 else LAYOUT_SHARDS
            finding = worst([_missing_shards(look), *(self._check(entry) for entry in candidate.entries)])
        if candidate.unfinished:
            finding = invalid("a marker beside it says that it is unfinished")
        return layout, finding

    def _judge_folder(self, look: _Look) -> Tuple[str, Finding]:
        name = look.candidate.entries[0].name
        if IN_PROGRESS in look.files:
            return LAYOUT_UNKNOWN, invalid("it is marked as in progress")
        if huggingface.STATE in look.files:
            finding = huggingface.check_folder(look.files, list(look.folders), self._verify, self._check)
            return huggingface.LAYOUT, finding
        if huggingface.has_name(name) and look.trainer_siblings and look.files and not look.folders:
            return huggingface.LAYOUT, invalid("it has no %s, which is written last" % huggingface.STATE)
        torn = worst(self._check(entry) for entry in look.files.values() if entry.name.endswith(EXTENSIONS))
        if torn.validity == CHECKPOINT_INVALID:
            return LAYOUT_UNKNOWN, torn
        return LAYOUT_UNKNOWN, not_verified("its layout is not known here")

    def _check(self, entry: Entry) -> Finding:
        key = (entry.path, entry.size, entry.mtime_ns)
        finding = self._checked.get(key)
        if finding is None:
            finding = check_file(entry.path, entry.size, self._verify)
        self._used[key] = finding
        if finding == COMPLETE and self._verify != VERIFY_MARKERS and not entry.name.endswith(EXTENSIONS):
            return not_verified("%s has a format that is not known here" % entry.name)
        return finding


def _look(candidate: Candidate, trainer_siblings: bool, most_shards: int) -> _Look:
    entries: Tuple[Entry, ...] = candidate.entries
    if candidate.is_folder:
        entries = tuple(_listing(candidate.path))
    return _Look(
        candidate,
        {entry.name: entry for entry in entries if not entry.is_folder},
        tuple(entry.name for entry in entries if entry.is_folder),
        trainer_siblings,
        most_shards,
    )


def _listing(folder: str) -> List[Entry]:
    try:
        return list_entries(folder)
    except OSError:
        return []


def _missing_shards(look: _Look) -> Finding:
    names = look.candidate.names
    numbers = sorted(name.shard for name in names if name.shard is not None)
    if not numbers:
        return COMPLETE
    expected: Optional[int] = names[0].shards
    first = min(numbers[0], 1)
    if expected is not None and len(numbers) < expected:
        return invalid("only %d of its %d shards are there" % (len(numbers), expected))
    if numbers != list(range(first, first + len(numbers))):
        return invalid("its shards have a gap")
    if expected is None and len(numbers) < look.most_shards:
        return not_verified("it has %d shards, another step has %d" % (len(numbers), look.most_shards))
    return COMPLETE

"""Reads one checkpoint directory: finds the candidates and judges each, remembering what has not changed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from hedgerow.checkpoints import aside_record, huggingface
from hedgerow.checkpoints.candidates import Candidate, Entry, find, list_entries
from hedgerow.checkpoints.contents import check_file
from hedgerow.checkpoints.finding import COMPLETE, Finding, invalid, not_verified, worst
from hedgerow.checkpoints.names import EXTENSIONS, IN_PROGRESS, is_newest, parse
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


class Proven(NamedTuple):
    """Something proven invalid. names: of its files, or of its folder. step: None where the name carries none."""

    names: Tuple[str, ...]
    step: Optional[int]
    reason: str


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
        return _fingerprint(self.files.values())

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
        self._at_rest: Dict[str, Fingerprint] = {}
        self._condemned: Set[Tuple[str, int, int]] = set()

    def remember_rest(self) -> None:
        """Nobody was writing when the last scan was made: what has not changed since is nobody's unfinished work."""
        self._at_rest = dict(self._before)

    def newer_invalid(self, chosen: Optional[str]) -> List[Proven]:
        """What is newer than the checkpoint ``chosen`` (None: all is), has rested and is invalid by a fresh look.

        Raises OSError, and ValueError when it cannot be told what is newer.
        """
        entries = list_entries(self._directory)
        found = find(entries)
        origin = _origin(found, chosen)
        afresh = Reader(self._directory, self._verify)
        afresh._condemned = self._condemned
        proven = []
        for look in afresh._looks(found, [candidate for candidate in found if candidate.step >= origin[0]]):
            candidate = look.candidate
            newer = candidate.path != chosen and (candidate.step, look.newest_ns) > origin
            if newer and self._at_rest.get(candidate.path) == look.fingerprint:
                checkpoint = afresh._judge(look, quiet=True)
                if checkpoint.validity == CHECKPOINT_INVALID:
                    names = tuple(entry.name for entry in candidate.entries)
                    proven.append(Proven(names, candidate.step, checkpoint.reason))
        for entry in _unnumbered(entries):
            if entry.mtime_ns > origin[1] and self._at_rest.get(entry.path) == _fingerprint([entry]):
                finding = check_file(entry.path, entry.size, self._verify)
                if finding.validity == CHECKPOINT_INVALID:
                    proven.append(Proven((entry.name,), None, finding.reason))
        return proven

    def scan(self, quiet: bool) -> CheckpointScan:
        """The newest candidates. quiet: nobody is writing, so that what is there has settled."""
        try:
            entries = list_entries(self._directory)
            found = find(entries)
        except FileNotFoundError:
            self._before = {}
            return CheckpointScan(quiet=quiet)
        except OSError as error:
            return CheckpointScan(error="%s: %s" % (self._directory, error.strerror or error), quiet=quiet)
        self._used = {}
        self._condemned = _condemned(self._directory, entries)
        candidates = self._judge_newest(found, quiet)
        self._before.update((entry.path, _fingerprint([entry])) for entry in _unnumbered(entries))
        self._checked = self._used
        return CheckpointScan(candidates=candidates, quiet=quiet)

    def _judge_newest(self, found: List[Candidate], quiet: bool) -> List[Checkpoint]:
        examined = found if quiet else found[:LOOKED_AT]
        seen: Dict[str, Fingerprint] = {}
        judged: List[Checkpoint] = []
        complete = 0
        for look in self._looks(found, examined):
            seen[look.candidate.path] = look.fingerprint
            checkpoint = self._judge(look, quiet)
            if len(judged) < REPORTED or checkpoint.validity == CHECKPOINT_COMPLETE:
                judged.append(checkpoint)
                complete += checkpoint.validity == CHECKPOINT_COMPLETE
            if len(judged) >= REPORTED and complete >= COMPLETE_REPORTED:
                break
        self._before = seen
        return judged

    def _looks(self, found: List[Candidate], examined: List[Candidate]) -> Iterator[_Look]:
        trainer = any(os.path.exists(os.path.join(c.path, huggingface.STATE)) for c in found[:LOOKED_AT] if c.is_folder)
        most_shards = max([len(candidate.entries) for candidate in found], default=0)
        for candidate in examined:
            yield _look(candidate, trainer, most_shards)

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
        if any((entry.name, entry.size, entry.mtime_ns) in self._condemned for entry in candidate.entries):
            finding = invalid("it is what is left of one that was being set aside")
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


def _fingerprint(files: Iterable[Entry]) -> Fingerprint:
    return tuple(sorted((entry.path, entry.size, entry.mtime_ns) for entry in files))


def _condemned(directory: str, entries: List[Entry]) -> Set[Tuple[str, int, int]]:
    """What was proven invalid and is still there: whoever set it aside was killed, and a part may look like a whole."""
    found: Set[Tuple[str, int, int]] = set()
    for entry in entries:
        if aside_record.is_record(entry.name):
            with contextlib.suppress(OSError, ValueError):
                moves = aside_record.read(directory, entry.name).moves
                found.update((move.name, move.size, move.mtime_ns) for move in moves)
    return found


def _unnumbered(entries: List[Entry]) -> List[Entry]:
    """Files that a script takes for the newest by their name alone."""
    return [entry for entry in entries if not entry.is_folder and is_newest(entry.name)]


def _origin(found: List[Candidate], chosen: Optional[str]) -> Tuple[int, int]:
    """Step and time (nanoseconds) of the chosen checkpoint; what is newer is beyond both."""
    if chosen is None:
        return (-1, -1)
    for candidate in found:
        if candidate.path == chosen:
            return (candidate.step, _look(candidate, False, 0).newest_ns)
    name = os.path.basename(chosen)
    read = parse(name, False) or parse(name, True)
    if read is None:
        raise ValueError("what is newer than %s cannot be told, it is not there" % chosen)
    return (read.step, time.time_ns())


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

"""Finds the candidates in a checkpoint directory: which entries belong together as one step."""

from __future__ import annotations

import dataclasses
import os
from typing import Dict, List, Optional, Tuple

from hedgerow.checkpoints.names import UNFINISHED, Name, is_temporary, parse


@dataclasses.dataclass(frozen=True)
class Entry:
    """A file or folder in the directory."""

    path: str
    name: str
    is_folder: bool
    size: int
    mtime_ns: int


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Entries that hold one step: one folder, one file, or several files (shards or components)."""

    step: int
    entries: Tuple[Entry, ...]
    names: Tuple[Name, ...]
    unfinished: bool = False

    @property
    def path(self) -> str:
        """What a resume is given: the folder or file; of several files the first shard, or the model."""
        return self.entries[0].path

    @property
    def is_folder(self) -> bool:
        """Whether it is one folder."""
        return self.entries[0].is_folder


def list_entries(folder: str) -> List[Entry]:
    """What ``folder`` holds; OSError when it cannot be listed. What vanishes meanwhile is left out."""
    entries = []
    with os.scandir(folder) as listing:
        for item in listing:
            entry = _entry(item)
            if entry is not None:
                entries.append(entry)
    return entries


def find(entries: List[Entry]) -> List[Candidate]:
    """The candidates among ``entries``, newest step first."""
    unfinished = {entry.name[: -len(UNFINISHED)] for entry in entries if entry.name.endswith(UNFINISHED)}
    groups: Dict[Tuple[object, ...], List[Tuple[Name, Entry]]] = {}
    for entry in entries:
        name = _name(entry)
        if name is not None:
            groups.setdefault(_group(name, entry), []).append((name, entry))
    found = [_candidate(members, unfinished) for members in groups.values()]
    return sorted(found, key=lambda candidate: (-candidate.step, candidate.path))


def _name(entry: Entry) -> Optional[Name]:
    """None also for a name that is no UTF-8: it could be told to nobody."""
    if is_temporary(entry.name) or any("\ud800" <= character <= "\udfff" for character in entry.name):
        return None
    return parse(entry.name, entry.is_folder)


def _group(name: Name, entry: Entry) -> Tuple[object, ...]:
    if entry.is_folder or (name.shard is None and not name.component):
        return (name.step, entry.name)
    if name.component:
        return (name.step, "components")
    return (name.step, name.stem, name.extension)


def _candidate(members: List[Tuple[Name, Entry]], unfinished: "set[str]") -> Candidate:
    members = sorted(members, key=lambda member: (member[0].component != "model", member[0].shard or 0, member[1].name))
    names = tuple(name for name, _entry in members)
    entries = tuple(entry for _name, entry in members)
    marked = any(entry.name in unfinished or name.stem in unfinished for name, entry in members)
    return Candidate(names[0].step, entries, names, marked)


def _entry(item: "os.DirEntry[str]") -> Optional[Entry]:
    try:
        status = item.stat()
        return Entry(item.path, item.name, item.is_dir(), status.st_size, status.st_mtime_ns)
    except OSError:
        return None

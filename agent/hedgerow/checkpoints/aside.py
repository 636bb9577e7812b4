"""Sets aside what a script that chooses its checkpoint itself must not choose, and undoes it.

Many take the newest. So what is newer than the chosen checkpoint and proven invalid is renamed before a start, and a
file that names it (``latest``) is made to name the chosen one. Several launchers may do so at the same time.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import List, Optional, Set, Tuple

from hedgerow.checkpoints import aside_record, replace, trackers
from hedgerow.checkpoints.aside_record import Move, Naming, Record
from hedgerow.checkpoints.names import SET_ASIDE, parse
from hedgerow.checkpoints.reader import Proven, Reader
from hedgerow.checkpoints.trackers import Target
from hedgerow.wire import CHECKPOINT_INVALID, Checkpoint

_MOVED = "%s is set aside as %s: %s"
_NAMED = "%s named %s, which is set aside; it names %s now"
_STAYS = "%s cannot be set aside (%s); a script that takes the newest checkpoint by itself would start from it"


def set_aside(
    reader: Reader, directory: str, chosen: Optional[str], known: List[Checkpoint], attempt: int, worker: int
) -> List[str]:
    """Do it, and what a start that was killed has left undone: what was done, a line for a person each.

    chosen: path of the checkpoint to start from, None: from the beginning. known: what the last look has found. Raises
    nothing that a launcher must know of.
    """
    try:
        proven = reader.newer_invalid(chosen)
        record = _plan(directory, proven, _target(chosen, known), attempt, worker)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        return ["nothing in %s is set aside: %s" % (directory, getattr(error, "strerror", None) or error)]
    if not record.moves and not record.namings:
        return []
    try:
        aside_record.write(directory, record)
    except OSError as error:
        first = (record.moves or [Move(record.namings[0].before.value, "")])[0].name
        return [_STAYS % (os.path.join(directory, first), error.strerror or error)]
    return _carry_out(directory, record)


def restore(directory: str) -> List[str]:
    """Undo all that was set aside in ``directory``: a line for a person for each thing done or left.

    Raises OSError, and ValueError with one sentence for a record that cannot be read. Killed at any point, it is
    finished by the next call.
    """
    lines = []
    for record in aside_record.read_all(directory):
        done, left = _undo(directory, record)
        lines += done + left
        if not left:
            aside_record.remove(directory, record)
    return lines


def _plan(directory: str, proven: List[Proven], target: Optional[Target], attempt: int, worker: int) -> Record:
    names = set(os.listdir(directory))
    moves = [_move(directory, name, names, found.reason) for found in proven for name in found.names]
    moved, steps = {move.name for move in moves}, {found.step for found in proven if found.step is not None}
    namings = []
    for tracker in trackers.find(directory, names - moved):
        if not trackers.names_one_of(tracker, moved, steps, names):
            continue
        if target is None:
            moves.append(_move(directory, tracker.name, names, "it names what is set aside"))
        else:
            namings.append(Naming(tracker, trackers.renamed(tracker, target)))
    now = time.time()
    return Record(aside_record.name_of(attempt, worker, now), now, moves, namings)


def _move(directory: str, name: str, names: Set[str], reason: str) -> Move:
    status = os.lstat(os.path.join(directory, name))
    return Move(name, _free_name(name, names), reason, status.st_size, status.st_mtime_ns)


def _target(chosen: Optional[str], known: List[Checkpoint]) -> Optional[Target]:
    """What trackers are to name: the chosen checkpoint, else the newest that nothing is known against."""
    if chosen is not None:
        name = os.path.basename(chosen)
        read = parse(name, False) or parse(name, True)
        return None if read is None else Target(name, read.step)
    for candidate in known:
        if candidate.validity != CHECKPOINT_INVALID:
            return Target(os.path.basename(candidate.path), candidate.step)
    return None


def _free_name(name: str, names: Set[str]) -> str:
    """The name under which something is kept; an earlier one of the same name keeps its own."""
    number, free = 1, name + SET_ASIDE
    while free in names:
        number += 1
        free = "%s.%d%s" % (name, number, SET_ASIDE)
    return free


def _carry_out(directory: str, record: Record) -> List[str]:
    """Trackers first, so that none ever names what is not there. What somebody else has done meanwhile is done."""
    lines, something = [], False
    for naming in record.namings:
        if trackers.read(directory, naming.before.name) != naming.before:
            continue
        path = os.path.join(directory, naming.before.name)
        try:
            trackers.write(directory, naming.after)
        except OSError as error:
            lines.append("%s cannot be set to %s: %s" % (path, naming.after.value, error.strerror or error))
            continue
        something = True
        lines.append(_NAMED % (path, naming.before.value, naming.after.value))
    for move in record.moves:
        path = os.path.join(directory, move.name)
        try:
            os.rename(path, os.path.join(directory, move.aside))
        except FileNotFoundError:
            continue
        except OSError as error:
            lines.append(_STAYS % (path, error.strerror or error))
            continue
        something = True
        lines.append(_MOVED % (path, move.aside, move.reason))
    replace.sync_folder(directory)
    if not something:
        with contextlib.suppress(OSError):
            aside_record.remove(directory, record)
    return lines


def _undo(directory: str, record: Record) -> Tuple[List[str], List[str]]:
    """What was undone, and what was left because something else lies there now. Files first, then what names them."""
    done, left = [], []
    for move in record.moves:
        path, aside = os.path.join(directory, move.name), os.path.join(directory, move.aside)
        if not os.path.lexists(aside):
            continue
        if os.path.lexists(path):
            left.append("%s stays: there is a newer %s" % (aside, move.name))
            continue
        os.rename(aside, path)
        done.append("%s is there again" % path)
    for naming in record.namings:
        now = trackers.read(directory, naming.before.name)
        if now == naming.after:
            trackers.write(directory, naming.before)
            done.append("%s names %s again" % (os.path.join(directory, now.name), naming.before.value))
        elif now != naming.before:
            done.append("%s stays as it is: it was written since" % os.path.join(directory, naming.before.name))
    replace.sync_folder(directory)
    return done, left

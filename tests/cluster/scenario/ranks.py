"""Rank processes, seen from the machine itself: nobody in the cluster is asked."""

import os
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tests.cluster.testbed import processes

SAMPLE_SECONDS = 0.1
# A process that was no rank in so many samples is looked at in every tenth only: most are daemons of the cluster.
STRANGER_SAMPLES = 10


class RankProcess(NamedTuple):
    """A process of a rank (its own or one that it started)."""

    pid: int
    uid: str
    attempt: int
    rank: int
    worker: int


def alive() -> list[RankProcess]:
    """The rank processes of all jobs, without zombies."""
    return [found for pid in _pids() if (found := look(pid)) is not None]


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(processes.PROC) if name.isdigit()]


def look(pid: int) -> RankProcess | None:
    """The rank that the process belongs to; None when it belongs to none or has ended."""
    try:
        content = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    if b"HEDGEROW_ATTEMPT=" not in content or b"\0RANK=" not in b"\0" + content:
        return None
    pairs = (entry.partition("=") for entry in content.decode(errors="replace").split("\0"))
    values = {name: value for name, _, value in pairs}
    uid, attempt = values.get("HEDGEROW_JOB_UID", ""), int(values["HEDGEROW_ATTEMPT"])
    return RankProcess(pid, uid, attempt, int(values["RANK"]), int(values["GROUP_RANK"]))


def of_job(uid: str) -> list[RankProcess]:
    """The rank processes of one job."""
    return [found for found in alive() if found.uid == uid]


class AttemptWatch(threading.Thread):
    """Looks all the time whether two attempts of one job are alive at once. `overlaps`: a sentence for each case."""

    def __init__(self) -> None:
        super().__init__(name="attempt-watch", daemon=True)
        self.overlaps: dict[str, str] = {}
        self.seen: dict[str, set[int]] = defaultdict(set)
        self.samples = 0
        self._strangers: dict[int, int] = {}
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(SAMPLE_SECONDS):
            self._sample()

    def stop(self) -> None:
        """Look no more."""
        self._end.set()
        self.join()

    def check(self, uid: str) -> None:
        """Fails when two attempts of this job were ever alive at once, or when the watch did not see it at all."""
        assert self.is_alive(), "nobody watched"
        assert self.seen[uid], "the watch never saw a rank of this job"
        assert uid not in self.overlaps, self.overlaps[uid]

    def _sample(self) -> None:
        by_job: dict[str, list[RankProcess]] = defaultdict(list)
        for found in self._ranks():
            by_job[found.uid].append(found)
            self.seen[found.uid].add(found.attempt)
        for uid, found in by_job.items():
            oldest = [entry for entry in found if entry.attempt < max(other.attempt for other in found)]
            # Whoever of the old attempt still lives now has lived beside the new one, which was seen before.
            lasting = [entry for entry in oldest if look(entry.pid) == entry]
            if lasting:
                self.overlaps.setdefault(uid, f"at {time.strftime('%X')} beside a newer attempt: {lasting} in {found}")
        self.samples += 1

    def _ranks(self) -> list[RankProcess]:
        known, self._strangers = self._strangers, {}
        found = []
        for pid in _pids():
            strange = known.get(pid, 0)
            rank = look(pid) if strange < STRANGER_SAMPLES or (self.samples + pid) % STRANGER_SAMPLES == 0 else None
            if rank is None:
                self._strangers[pid] = strange + 1
            else:
                found.append(rank)
        return found

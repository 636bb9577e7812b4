"""Whether an isolated launcher may train on. Pure: a function of what it has heard and ``now``.

A launcher knows that its attempt is current from the operator, or from another launcher of the attempt that passes
on the operator's answer with its age. It trains on while such an answer is younger than ``fence_seconds``, or while
every launcher of its attempt answers it. All times are seconds on CLOCK_BOOTTIME, which goes on while the machine is
suspended. Ages are counted from before a request was sent, never from when its answer came: the error is on the
safe side.
"""

from __future__ import annotations

import dataclasses
from typing import Mapping, Optional, Tuple

from hedgerow.wire import PeerAnswer

TRAIN = "train"
ASK_PEERS = "ask-peers"
FENCE = "fence"

# In calm nobody is asked: the own answers are younger than this share of fence_seconds.
ASK_SHARE = 0.25
# "Every launcher answers" means within this time. The operator waits 15 s longer than fence_seconds.
ANSWERS_NOW_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class PeerWord:
    """A peer's newest answer, and when it was asked for."""

    asked: float
    answer: PeerAnswer


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """What one launcher knows about its attempt.

    current_sent: when it sent the newest request that was answered ``current`` for this attempt.
    peers: addresses of the other launchers of the attempt; words: address -> newest word of that peer.
    """

    attempt: int
    workers: int
    fence_seconds: float
    current_sent: float
    peers: Tuple[str, ...] = ()
    words: Mapping[str, PeerWord] = dataclasses.field(default_factory=dict)


def decide(known: Knowledge, now: float) -> str:
    """TRAIN, ASK_PEERS (train on, but ask the others), or FENCE (kill the ranks at once)."""
    if known.workers < 2 or known.fence_seconds <= 0:
        return TRAIN
    if now - known.current_sent < known.fence_seconds * ASK_SHARE:
        return TRAIN
    if now - newest_word(known) < known.fence_seconds or everyone_answers(known, now):
        return ASK_PEERS
    return FENCE


def newest_word(known: Knowledge) -> float:
    """When the newest operator answer that we know of was asked for, by us or by another launcher."""
    passed_on = [
        word.asked - word.answer.answer_age
        for word in known.words.values()
        if word.answer.attempt == known.attempt and word.answer.running and word.answer.answer_age is not None
    ]
    return max(passed_on + [known.current_sent])


def everyone_answers(known: Knowledge, now: float) -> bool:
    """Whether every other launcher answers right now that it runs this attempt."""
    if len(known.peers) != known.workers - 1:
        return False
    return all(_runs_it(known.words.get(peer), known.attempt, now) for peer in known.peers)


def _runs_it(word: Optional[PeerWord], attempt: int, now: float) -> bool:
    if word is None:
        return False
    return word.answer.running and word.answer.attempt == attempt and now - word.asked <= ANSWERS_NOW_SECONDS

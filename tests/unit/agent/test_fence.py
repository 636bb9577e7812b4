"""Who may train on: a table of what a launcher has heard."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.fence import ASK_PEERS, FENCE, TRAIN, Knowledge, PeerWord, decide
from hedgerow.wire import PeerAnswer

NOW = 1000.0


def word(asked: float, answer_age: float | None, attempt: int = 4, running: bool = True) -> PeerWord:
    return PeerWord(NOW - asked, PeerAnswer(attempt, running, answer_age))


def known(current: float, words: dict[str, PeerWord] | None = None, **fields: Any) -> Knowledge:
    fields = {"workers": 3, "fence_seconds": 120.0, "peers": ("b", "c"), **fields}
    return Knowledge(4, current_sent=NOW - current, words=words or {}, **fields)


CASES: dict[str, tuple[Knowledge, str]] = {
    "a fresh answer of the operator needs nobody else": (known(29), TRAIN),
    "just younger than a quarter of the fence an answer is fresh": (known(29.9), TRAIN),
    "from a quarter of the fence on it asks the others": (known(30), ASK_PEERS),
    "a short fence asks the others sooner": (known(2.5, fence_seconds=10.0), ASK_PEERS),
    "and trains alone as long as its own answers come": (known(2.4, fence_seconds=10.0), TRAIN),
    "an answer that ages makes it ask the others": (known(31), ASK_PEERS),
    "an answer just younger than the fence keeps it training": (known(119.9), ASK_PEERS),
    "an answer as old as the fence ends it": (known(120), FENCE),
    "a lone worker never ends itself": (known(99999, workers=1), TRAIN),
    "a fence of 0 never ends anything": (known(99999, fence_seconds=0.0), TRAIN),
    "another launcher passes on a young answer": (known(500, {"b": word(1, 10)}), ASK_PEERS),
    "what is passed on ages on the way": (known(500, {"b": word(15, 105)}), FENCE),
    "what is passed on counts from before it was asked for": (known(500, {"b": word(15, 104.9)}), ASK_PEERS),
    "one launcher that answers without an operator's word is not enough": (known(500, {"b": word(1, None)}), FENCE),
    "every launcher answers, none has a word": (known(500, {"b": word(1, None), "c": word(2, None)}), ASK_PEERS),
    "every launcher answers, the words are old": (known(500, {"b": word(1, 400), "c": word(2, 500)}), ASK_PEERS),
    "one has not answered for a while": (known(500, {"b": word(1, 400), "c": word(11, 400)}), FENCE),
    "one answers for another attempt": (known(500, {"b": word(1, 400), "c": word(1, 1, attempt=5)}), FENCE),
    "one has been told to stop": (known(500, {"b": word(1, 400), "c": word(1, None, running=False)}), FENCE),
    "a young word of one that was told to stop is none": (known(500, {"b": word(1, 1, running=False)}), FENCE),
    "not all peers are known": (known(500, {"b": word(1, None)}, peers=("b",)), FENCE),
    "the machine was suspended, so all words are old": (known(5000, {"b": word(5000, 1), "c": word(5000, 1)}), FENCE),
}


@pytest.mark.parametrize(("knowledge", "decision"), CASES.values(), ids=CASES.keys())
def test_an_isolated_launcher(knowledge: Knowledge, decision: str) -> None:
    assert decide(knowledge, NOW) == decision

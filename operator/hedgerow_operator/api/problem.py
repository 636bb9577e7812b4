"""What is wrong with a manifest: one place, one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """at: place in the object, such as spec.health.phases[1].name, "" for the whole. sentence: names it too."""

    at: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def blame(at: str, message: str) -> Problem:
    """The problem whose sentence begins with its place."""
    return Problem(at, f"{at}: {message}" if at else message)

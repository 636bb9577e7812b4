"""Logs of a pretended job, line by line, at a clock of their own."""

import json
from typing import Any

from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay

START = 1_700_000_000.0


class Log:
    """Lines of JSON with step and time; ``now`` is the clock of the log, seconds."""

    def __init__(self) -> None:
        self.now = START
        self.step = 0
        self.lines: list[str] = []

    def steps(self, count: int, seconds: float = 1.0, **values: Any) -> "Log":
        """So many steps, each of this length."""
        for _ in range(count):
            self.now += seconds
            self.step += 1
            self.write(step=self.step, **values)
        return self

    def phase(self, name: str, seconds: float) -> "Log":
        """A declared phase of this length; it ends with the first step after it."""
        self.write(step=self.step, phase=name)
        self.now += seconds
        self.write(step=self.step, phase="step")
        return self

    def silence(self, seconds: float) -> "Log":
        """Nothing is written for a while."""
        self.now += seconds
        return self

    def say(self, line: str) -> "Log":
        """A line of plain words."""
        self.lines.append(line)
        return self

    def write(self, **fields: Any) -> None:
        """One line of JSON."""
        self.lines.append(json.dumps({"time": self.now, **fields}))

    def replay(self, gap_seconds: float = 0.0, ranks: int | None = None) -> dict[str, Any]:
        """What ``hedgerow replay training -o json`` prints."""
        session = TrainingReplay(ranks=ranks)
        session.feed("\n".join(self.lines).encode() + b"\n")
        return as_object(session.finish(gap_seconds))


def kinds(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and action of each incident."""
    return [(incident["kind"], incident["action"]) for incident in found["incidents"]]

"""A node for tests: an agent over a fake file, with a clock that the test moves and a log that it writes."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hedgerow.wire_agent import AgentReport, Finding, GpuReport
from hedgerow_agent.agent import Agent
from hedgerow_agent.devices.fake import FakeSource
from hedgerow_agent.host.base import HostCheck
from hedgerow_agent.kernel_log.line import Record, record

# Looks at fake GPUs take a millisecond, on a busy machine more; only what hangs takes all of it.
WAIT_SECONDS = 10.0
HANGING_WAIT_SECONDS = 0.4


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class WrittenLog:
    """A kernel log that the test and the fake file write."""

    words = "written by the test"

    def __init__(self, played: Callable[[], list[str]]) -> None:
        self._played = played
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        self._lines.append(line)

    def records(self) -> list[Record]:
        lines, self._lines = self._lines + self._played(), []
        return [record(line)._replace(seconds=None) for line in lines]

    def close(self) -> None:
        pass


class Node:
    """An agent, its clock and its kernel log."""

    def __init__(
        self,
        folder: Path,
        content: dict[str, Any],
        expected: int | None = None,
        root: str = "",
        host: Sequence[HostCheck] = (),
    ) -> None:
        self.path = folder / "gpus.json"
        self.path.write_text(json.dumps(content))
        self.wait = HANGING_WAIT_SECONDS if '"Hung"' in self.path.read_text() else WAIT_SECONDS
        self.clock = Clock()
        self.source = FakeSource(str(self.path), self.clock, "node-1")
        self.log = WrittenLog(self.source.kernel_lines)
        known = (lambda: (expected, [])) if expected is not None else (lambda: (self.source.expected(), []))
        self.agent = Agent("node-1", self.source, self.log, list(host), self.clock, known, self.source.load, root)
        self.look()

    def look(self, seconds: float = 0.0) -> bool:
        """Look once, so many seconds later."""
        self.clock.now += seconds
        return self.agent.tick(self.wait)

    def looks(self, seconds: float, every: float = 5.0) -> None:
        """Look again and again for so long."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.look(every)

    def report(self) -> AgentReport:
        return self.agent.report()

    def gpu(self, index: int) -> GpuReport:
        (found,) = [gpu for gpu in self.report().gpus if gpu.index == index]
        return found

    def findings(self, reason: str = "") -> list[Finding]:
        return [one for one in self.report().findings if not reason or one.reason == reason]


def gpus(count: int = 1, profile: str = "a100", **values: Any) -> dict[str, Any]:
    """A fake file with so many GPUs, and nothing that happens."""
    return {"gpus": [{"profile": profile, "count": count, "values": values}], "script": []}


def story(count: int, *steps: dict[str, Any], profile: str = "a100", **values: Any) -> dict[str, Any]:
    """A fake file in which something happens."""
    return {**gpus(count, profile, **values), "script": list(steps)}

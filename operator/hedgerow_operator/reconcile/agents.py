"""What the agent of every node said last. In memory only: after a restart they say it again.

A report of 8 GPUs is some hundred numbers, and of most nodes nobody asks for them: it is kept as it came, beside an
outline of what decides whether anybody has to look. It is read when it is asked for.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from hedgerow.wire_agent import GPU_PRESENT, HEALTHY, NOT_MEASURED, VERSION, AgentAnswer, AgentReport
from hedgerow_operator.reconcile.pressure import Pressure

# A node that has not been heard for so long is forgotten: it is gone, or has another name.
FORGET_SECONDS = 900.0
_SWEEP_SECONDS = 60.0
_decoder = msgspec.json.Decoder(AgentReport)


class GpuOutline(Struct, frozen=True, gc=False):
    """Of a GPU; fields as in GpuReport."""

    index: int
    uuid: str = ""
    state: str = GPU_PRESENT
    health: str = HEALTHY


class FindingOutline(Struct, frozen=True, gc=False):
    """Of a finding; fields as in Finding."""

    check: str
    health: str
    reason: str
    action: str
    gpu: int | None = None


class EventOutline(Struct, frozen=True, gc=False):
    """Of messages of the kernel; fields as in GpuEvent."""

    kind: str
    code: int
    pci: str
    count: int = 1
    recovered: bool = False


class Outline(Struct, frozen=True, kw_only=True, gc=False):
    """Of an agent's report who sent it, which one is newer, and what a decision would look at again.

    Ages and readings are not in it.
    """

    node: str
    agent: str
    seq: int
    version: int = VERSION
    health: str = NOT_MEASURED
    gpus: list[GpuOutline] = []
    findings: list[FindingOutline] = []
    events: list[EventOutline] = []

    def same(self, other: "Outline") -> bool:
        """Whether both say the same of the node."""
        return (self.health, self.gpus, self.findings, self.events) == (
            other.health,
            other.gpus,
            other.findings,
            other.events,
        )


class AgentHeard(Struct, frozen=True, kw_only=True):
    """The newest report of a node's agent. age: seconds since it came."""

    report: AgentReport
    age: float


_outline_decoder = msgspec.json.Decoder(Outline)


class _Kept:
    __slots__ = ("at", "body", "outline", "report")

    def __init__(self, outline: Outline, body: bytes, at: float) -> None:
        self.outline, self.body, self.at = outline, body, at
        self.report: AgentReport | None = None


class AgentHub:
    """Newest report of every node. ``clock``: monotonic seconds.

    ``on_news`` is called with the node whose agent says something else than before of its health.
    """

    def __init__(self, clock: Callable[[], float], pressure: Pressure | None = None) -> None:
        self._clock = clock
        self._pressure = pressure or Pressure()
        self._heard: dict[str, _Kept] = {}
        self._swept = clock()
        self._missed: set[str] = set()
        self.on_news: Callable[[str], None] = lambda node: None

    def follows(self, outline: Outline) -> bool:
        """Whether the same agent process has been heard before, so that it is known to speak our language."""
        old = self._heard.get(outline.node)
        return old is not None and old.outline.agent == outline.agent

    def receive(self, report: AgentReport) -> AgentAnswer:
        """As ``receive_body``, of a report that was made here or read already."""
        body = msgspec.json.encode(report)
        return self.receive_body(_outline_decoder.decode(body), body)

    def receive_body(self, outline: Outline, body: bytes) -> AgentAnswer:
        """Remember a report, unless it is older than one of the same agent that is known already."""
        now = self._clock()
        old = self._heard.get(outline.node)
        if old is None or old.outline.agent != outline.agent or old.outline.seq < outline.seq:
            self._heard[outline.node] = _Kept(outline, body, now)
            if old is None or outline.node in self._missed or not old.outline.same(outline):
                self._missed.discard(outline.node)
                self.on_news(outline.node)
        if now - self._swept >= _SWEEP_SECONDS:
            self._sweep(now)
        return AgentAnswer(interval_seconds=self._pressure.turn(AgentAnswer.interval_seconds, now))

    def miss(self, node: str) -> None:
        """The agent of this node counts as silent: its next report is news, whatever it says."""
        self._missed.add(node)

    def newest(self, node: str) -> AgentHeard | None:
        """What the agent of this node said last, None: nothing within FORGET_SECONDS, or nothing that can be read."""
        kept = self._heard.get(node)
        if kept is None or self._clock() - kept.at >= FORGET_SECONDS:
            return None
        if kept.report is None:
            try:
                kept.report, kept.body = _decoder.decode(kept.body), b""
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                return None
        return AgentHeard(report=kept.report, age=self._clock() - kept.at)

    def age(self, node: str) -> float | None:
        """Seconds since the agent of this node was heard; None as for ``newest``, which reads the whole report."""
        kept = self._heard.get(node)
        age = FORGET_SECONDS if kept is None else self._clock() - kept.at
        return age if age < FORGET_SECONDS else None

    def outlines(self) -> Iterator[tuple[Outline, float]]:
        """Of every node that has been heard, with its age: enough to see which ones to ask for."""
        now = self._clock()
        return iter([(kept.outline, now - kept.at) for kept in self._heard.values()])

    def nodes(self) -> Iterator[str]:
        """Every node whose agent has been heard."""
        return iter(tuple(self._heard))

    def forget(self, node: str) -> None:
        """The node is gone."""
        self._heard.pop(node, None)
        self._missed.discard(node)

    def _sweep(self, now: float) -> None:
        self._swept = now
        self._heard = {node: kept for node, kept in self._heard.items() if now - kept.at < FORGET_SECONDS}

"""What the agent of every node said last. In memory only: after a restart they say it again."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from hedgerow.wire_agent import AgentAnswer, AgentReport
from hedgerow_operator.reconcile.pressure import Pressure

# A node that has not been heard for so long is forgotten: it is gone, or has another name.
FORGET_SECONDS = 900.0
_SWEEP_SECONDS = 60.0


class AgentHeard(Struct, frozen=True, kw_only=True):
    """The newest report of a node's agent. age: seconds since it came."""

    report: AgentReport
    age: float


class AgentHub:
    """Newest report of every node. ``clock``: monotonic seconds.

    ``on_news`` is called with the node whose agent says something else than before of its health.
    """

    def __init__(self, clock: Callable[[], float], pressure: Pressure | None = None) -> None:
        self._clock = clock
        self._pressure = pressure or Pressure()
        self._heard: dict[str, tuple[AgentReport, float]] = {}
        self._swept = clock()
        self.on_news: Callable[[str], None] = lambda node: None

    def receive(self, report: AgentReport) -> AgentAnswer:
        """Remember a report, unless it is older than one of the same agent that is known already."""
        now = self._clock()
        old = self._heard.get(report.node)
        if old is None or old[0].agent != report.agent or old[0].seq < report.seq:
            self._heard[report.node] = (report, now)
            if old is None or _health(old[0]) != _health(report):
                self.on_news(report.node)
        if now - self._swept >= _SWEEP_SECONDS:
            self._sweep(now)
        return AgentAnswer(interval_seconds=self._pressure.interval(AgentAnswer.interval_seconds))

    def newest(self, node: str) -> AgentHeard | None:
        """What the agent of this node said last, None: nothing within FORGET_SECONDS."""
        entry = self._heard.get(node)
        if entry is None or self._clock() - entry[1] >= FORGET_SECONDS:
            return None
        return AgentHeard(report=entry[0], age=self._clock() - entry[1])

    def nodes(self) -> Iterator[str]:
        """Every node whose agent has been heard."""
        return iter(tuple(self._heard))

    def forget(self, node: str) -> None:
        """The node is gone."""
        self._heard.pop(node, None)

    def _sweep(self, now: float) -> None:
        self._swept = now
        self._heard = {node: entry for node, entry in self._heard.items() if now - entry[1] < FORGET_SECONDS}


def _health(report: AgentReport) -> object:
    """What a person or a decision would look at again; ages and readings are not in it."""
    findings = [(entry.check, entry.gpu, entry.health, entry.reason, entry.action) for entry in report.findings]
    events = [(entry.kind, entry.code, entry.pci, entry.count, entry.recovered) for entry in report.events]
    return report.health, [(gpu.index, gpu.uuid, gpu.state, gpu.health) for gpu in report.gpus], findings, events

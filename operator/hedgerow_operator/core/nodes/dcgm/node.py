"""One node as its dcgm-exporter shows it: each text becomes a report like those of our own agent."""

from collections.abc import Iterable, Mapping

from hedgerow.wire_agent import AgentReport, DriverReport, worst
from hedgerow_operator.core.nodes.dcgm.gpu import Gpu
from hedgerow_operator.core.nodes.dcgm.text import MAX_GPUS, Exposition

SOURCE = "dcgm-exporter"
KERNEL_LOG = "not read: dcgm-exporter shows the last Xid of each GPU"


class ExporterNode:
    """What has to be remembered from scrape to scrape, of fixed size. Times are seconds of one monotonic clock."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._gpus: dict[int, Gpu] = {}
        self._dropped: dict[str, int] = {}
        self._process = ""
        self._before: float | None = None
        self._recalled: Mapping[int, tuple[int, float]] = {}

    def recall(self, xids: Mapping[int, tuple[int, float]]) -> None:
        """What was known before this operator began. xids: index of a GPU -> the Xid it showed, and since when."""
        self._recalled = xids

    def take(self, found: Exposition, process: str, now: float, wall: float) -> AgentReport:
        """The report of what an exporter says. process: another one knows of no GPU that it never saw."""
        if process != self._process:
            self._process, self._before = process, None
            self._gpus = {index: gpu for index, gpu in self._gpus.items() if index in found.gpus}
        for name, count in found.dropped.items():
            self._dropped[name] = self._dropped.get(name, 0) + count
        for index, text in found.gpus.items():
            if index not in self._gpus or not self._gpus[index].is_of(text):
                self._gpus[index] = Gpu(text)
                if index in self._recalled:
                    self._gpus[index].xids.recall(*self._recalled[index])
            self._gpus[index].take(text, now, self._before, self._dropped)
        self._recalled = {}
        self._miss(found.gpus, now)
        self._before = now
        return self._report(found.driver, now, wall)

    def _miss(self, told: Iterable[int], now: float) -> None:
        for index in self._gpus.keys() - set(told):
            self._gpus[index].miss(now)
        for index in sorted(self._gpus)[MAX_GPUS:]:
            del self._gpus[index]

    def _report(self, driver: str, now: float, wall: float) -> AgentReport:
        gpus = [self._gpus[index] for index in sorted(self._gpus)]
        findings = [one for gpu in gpus for one in gpu.findings(now)]
        reports = [gpu.report(now, findings) for gpu in gpus]
        return AgentReport(
            node=self._node,
            boot="",
            agent=self._process,
            # Whoever remembers nothing of an exporter that was away for a moment must not number from 1 again.
            seq=int(now * 1000),
            sent_monotonic=now,
            sent_wall=wall,
            health=worst([report.health for report in reports]),
            driver=DriverReport(source=SOURCE, version=driver),
            gpus=reports,
            findings=findings,
            events=[event for gpu in gpus for event in gpu.standing(now)],
            dropped=dict(self._dropped),
            kernel_log=KERNEL_LOG,
        )

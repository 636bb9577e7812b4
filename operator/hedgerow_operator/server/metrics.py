"""What Prometheus can read of this process: names with units, labels with few values, a registry of its own."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from hedgerow_operator.api import reasons
from hedgerow_operator.core.watching.communication import Communication

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# From a pass that changes nothing (about a millisecond) to one that waits for a slow API server.
_DURATION_BUCKETS = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)


# Jobs that are told of one by one, those that communicate most: a series a job must not grow without bound.
MOST_JOBS = 100


class Metrics:
    """Counts of one process. Only the gauges of communication name jobs: a bounded number, of those that there are."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._reconciles = self._counter("reconciles", "Reconcile passes by result.", "result")
        self._incidents = self._counter("incidents_opened", "Incidents opened by kind.", "kind")
        self._restarts = self._counter("restarts", "Attempts after the first by cause.", "cause")
        self._refused = self._counter("reports_refused", "Reports refused by HTTP status.", "status")
        self._received = Counter("hedgerow_reports_received", "Reports believed.", registry=self.registry)
        self._seconds = Histogram(
            "hedgerow_reconcile_duration_seconds",
            "Length of reconcile passes.",
            buckets=_DURATION_BUCKETS,
            registry=self.registry,
        )
        self._jobs = Gauge("hedgerow_jobs", "Training jobs by state.", ["state"], registry=self.registry)
        self._degraded = Gauge(
            "hedgerow_degraded_jobs",
            "Training jobs that go on, but not as they should, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self._nodes = Gauge("hedgerow_nodes", "GPUNodes by state.", ["state"], registry=self.registry)
        # Asked at each scrape; a process that keeps no nodes has none.
        self.count_nodes: Callable[[], Mapping[str, int]] = dict
        self._share = self._of_job("communication_ratio", "Share of their time that ranks spend in collectives.")
        self._bus = self._of_job("bus_bandwidth_bytes_per_second", "NCCL's bus bandwidth while a job communicates.")
        # Asked at each scrape: namespace, name and figures of each job.
        self.communication: Callable[[], Iterable[tuple[str, str, Communication]]] = tuple
        # A counter that begins with its first incident would show no increase by it.
        for kind in sorted(reasons.INCIDENT_KINDS):
            self._incidents.labels(kind)
        self._leader = Gauge("hedgerow_leader", "1 while this process may act.", registry=self.registry)

    def _counter(self, name: str, text: str, label: str) -> Counter:
        return Counter(f"hedgerow_{name}", text, [label], registry=self.registry)

    def _of_job(self, name: str, text: str) -> Gauge:
        # Scrapes set the labels job and namespace themselves.
        return Gauge(f"hedgerow_job_{name}", text, ["job_namespace", "job_name"], registry=self.registry)

    def reconciled(self, result: str, seconds: float) -> None:
        """One pass ended: result is one of a few words (ok, conflict, unreachable, error)."""
        self._reconciles.labels(result).inc()
        self._seconds.observe(seconds)

    def incident_opened(self, kind: str) -> None:
        """One incident was opened; kind as in api.reasons.INCIDENT_KINDS."""
        self._incidents.labels(kind).inc()

    def restarted(self, cause: str) -> None:
        """One attempt after the first began; cause is the reason why the one before ended."""
        self._restarts.labels(cause).inc()

    def report_received(self) -> None:
        """One report was believed."""
        self._received.inc()

    def report_refused(self, status: int) -> None:
        """One report was refused with this HTTP status."""
        self._refused.labels(str(status)).inc()

    def jobs_by_state(self, counts: Mapping[str, int]) -> None:
        """How many jobs there are in each state; states that are not named have none."""
        _set(self._jobs, counts)

    def degraded_jobs(self, counts: Mapping[str, int]) -> None:
        """How many jobs have a degradation of each reason; reasons that are not named have none."""
        _set(self._degraded, counts)

    def leading(self, holds: bool) -> None:
        """Whether this process may act now."""
        self._leader.set(1 if holds else 0)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        _set(self._nodes, self.count_nodes())
        self._tell_communication()
        return generate_latest(self.registry)

    def _tell_communication(self) -> None:
        self._share.clear()
        self._bus.clear()
        told = sorted(self.communication(), key=lambda entry: -(entry[2].share or 0.0))
        for namespace, name, figures in told[:MOST_JOBS]:
            if figures.share is not None:
                self._share.labels(namespace, name).set(figures.share)
            if figures.bus_bytes_per_second is not None:
                self._bus.labels(namespace, name).set(figures.bus_bytes_per_second)


def _set(gauge: Gauge, counts: Mapping[str, int]) -> None:
    gauge.clear()
    for word, count in counts.items():
        gauge.labels(word).set(count)

"""/metrics names jobs only where their communication is measured, a bounded number of them, and none that is gone."""

from __future__ import annotations

from hedgerow_operator.core.watching.communication import Communication
from hedgerow_operator.server.metrics import MOST_JOBS, Metrics


def lines(metrics: Metrics) -> list[str]:
    """The series of jobs."""
    return [line for line in metrics.text().decode().splitlines() if line.startswith("hedgerow_job_")]


def test_a_job_shows_what_is_measured_of_it_and_nothing_else() -> None:
    metrics = Metrics()
    metrics.communication = lambda: [
        ("research", "llama", Communication(share=0.25, bus_bytes_per_second=4e11)),
        ("vision", "vit", Communication(share=0.5)),
    ]
    assert lines(metrics) == [
        'hedgerow_job_communication_ratio{job_name="vit",job_namespace="vision"} 0.5',
        'hedgerow_job_communication_ratio{job_name="llama",job_namespace="research"} 0.25',
        'hedgerow_job_bus_bandwidth_bytes_per_second{job_name="llama",job_namespace="research"} 4e+11',
    ]


def test_a_job_that_is_gone_is_shown_no_more() -> None:
    metrics = Metrics()
    metrics.communication = lambda: [("research", "llama", Communication(share=0.25))]
    assert len(lines(metrics)) == 1
    metrics.communication = tuple
    assert lines(metrics) == []


def test_of_many_jobs_those_that_communicate_most_are_shown() -> None:
    metrics = Metrics()
    metrics.communication = lambda: [("a", f"j{n}", Communication(share=n / 1000)) for n in range(1000)]
    shown = lines(metrics)
    assert len(shown) == MOST_JOBS
    assert 'job_name="j999"' in shown[0]

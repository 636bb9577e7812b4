"""What /metrics says of the endpoints: read from their own counts when somebody asks."""

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from hedgerow_operator.gateway.counts import EndpointStatistics
from hedgerow_operator.gateway.gateway import Gateway

_PLACE = ["namespace", "endpoint"]


class _Endpoints(Collector):
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def collect(self) -> Iterator[Metric]:
        found = self._gateway.statistics()
        yield from _of_endpoints(found)
        yield from _of_providers(found)


def exposition(gateway: Gateway, more: Sequence[Collector] = ()) -> tuple[str, bytes]:
    """The content type, and the text. more: what others count."""
    registry = CollectorRegistry()
    for one in (_Endpoints(gateway), *more):
        registry.register(one)
    return CONTENT_TYPE_LATEST, generate_latest(registry)


def _of_endpoints(found: tuple[EndpointStatistics, ...]) -> Iterator[Metric]:
    requests = CounterMetricFamily("hedgerow_requests", "Requests that were given to providers.", labels=_PLACE)
    hedged = CounterMetricFamily("hedgerow_requests_hedged", "Of them, with several attempts at once.", labels=_PLACE)
    wins = CounterMetricFamily("hedgerow_hedge_wins", "Of them, won by a later attempt.", labels=_PLACE)
    answers = CounterMetricFamily("hedgerow_answers", "Answers to clients, by status.", labels=[*_PLACE, "status"])
    running = GaugeMetricFamily("hedgerow_requests_running", "Requests right now.", labels=_PLACE)
    for one in found:
        place = [one.namespace, one.name]
        requests.add_metric(place, one.requests)
        hedged.add_metric(place, one.hedged)
        wins.add_metric(place, one.hedge_wins)
        running.add_metric(place, one.running)
        for status, count in one.answers.items():
            answers.add_metric([*place, str(status)], count)
    yield from (requests, hedged, wins, answers, running)


def _of_providers(found: tuple[EndpointStatistics, ...]) -> Iterator[Metric]:
    labels = [*_PLACE, "provider"]
    attempts = CounterMetricFamily("hedgerow_attempts", "Attempts, by how they went.", labels=[*labels, "went"])
    is_open = GaugeMetricFamily("hedgerow_provider_open", "Whether it is given attempts.", labels=labels)
    latency = GaugeMetricFamily(
        "hedgerow_provider_latency_seconds", "Of valid answers lately.", labels=[*labels, "quantile"]
    )
    for one in found:
        for provider in one.providers:
            place = [one.namespace, one.name, provider.name]
            is_open.add_metric(place, float(provider.open))
            for went, count in provider.attempts.items():
                attempts.add_metric([*place, went], count)
            for share, seconds in (("0.5", provider.p50_seconds), ("0.95", provider.p95_seconds)):
                if seconds is not None:
                    latency.add_metric([*place, share], seconds)
    yield from (attempts, is_open, latency)

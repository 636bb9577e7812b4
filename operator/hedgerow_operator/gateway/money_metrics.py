"""What /metrics says of money and losers. Labels: endpoints and providers that there are, and words of fixed sets."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hedgerow_operator.core.hedging.breaker import Circuit
from hedgerow_operator.core.hedging.dollars import usd
from hedgerow_operator.gateway.books import Books

_PLACE = ["namespace", "endpoint"]


class MoneyCollector(Collector):
    """Read when somebody asks."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def collect(self) -> Iterator[Metric]:
        yield from _of_providers(self._books)
        yield from _of_endpoints(self._books)
        journal, queue = self._books.journal, len(self._books.queue)
        yield GaugeMetricFamily("hedgerow_losers_ending", "Attempts given up whose end is not proven yet.", value=queue)
        yield CounterMetricFamily(
            "hedgerow_journal_errors", "Times that the journal could not be written.", value=journal.errors
        )


def _of_providers(books: Books) -> Iterator[Metric]:
    labels = [*_PLACE, "provider"]
    cost = CounterMetricFamily(
        "hedgerow_cost_usd",
        "What providers charge. basis measured: as they say; estimated: as reckoned. role: served, or other.",
        labels=[*labels, "role", "basis"],
    )
    receipts = CounterMetricFamily(
        "hedgerow_receipts", "Attempts given up, by what proves their end.", labels=[*labels, "evidence"]
    )
    leaked = CounterMetricFamily("hedgerow_leaked", "Of them, not proven to have ended.", labels=labels)
    for endpoint, account in books.accounts().items():
        for provider, tally in account.tallies.items():
            place = [*_place(endpoint), provider]
            for (served, measured), amount in tally.cost.items():
                words = ["served" if served else "other", "measured" if measured else "estimated"]
                cost.add_metric([*place, *words], usd(amount))
            evidence: dict[str, int] = {}
            for (grade, _leaked), count in tally.receipts.items():
                evidence[str(grade)] = evidence.get(str(grade), 0) + count
            for word, count in evidence.items():
                receipts.add_metric([*place, word], count)
            leaked.add_metric(place, tally.leaked)
    yield from (cost, receipts, leaked)


def _of_endpoints(books: Books) -> Iterator[Metric]:
    spent = GaugeMetricFamily("hedgerow_spent_usd", "Within the last hour and day.", labels=[*_PLACE, "window"])
    held = GaugeMetricFamily("hedgerow_held_usd", "Worst case of attempts that run.", labels=_PLACE)
    refused = CounterMetricFamily("hedgerow_attempts_refused", "Attempts that the budget did not allow.", labels=_PLACE)
    circuit = GaugeMetricFamily(
        "hedgerow_circuit", "1 for the state of each provider's breaker.", labels=[*_PLACE, "provider", "state"]
    )
    for endpoint in books.accounts():
        place, spending = _place(endpoint), books.spending(endpoint)
        spent.add_metric([*place, "hour"], spending.hour)
        spent.add_metric([*place, "day"], spending.day)
        held.add_metric(place, spending.held)
        refused.add_metric(place, spending.refused)
        for provider, state in books.circuits(endpoint).items():
            for each in Circuit:
                circuit.add_metric([*place, provider, each], float(each is state))
    yield from (spent, held, refused, circuit)


def _place(endpoint: str) -> list[str]:
    namespace, _, name = endpoint.partition("/")
    return [namespace, name]

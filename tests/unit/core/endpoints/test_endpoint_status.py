"""How an endpoint stands, from what its gateways show and its providers say: a table."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, InferenceEndpointStatus, inference_endpoint
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth, provider_status
from hedgerow_operator.core.endpoints.seen import EndpointShown, ProviderShown, merged
from hedgerow_operator.core.endpoints.status import endpoint_status
from tests.unit.core.endpoints.endpoints_of_tests import PROVIDER

NOW = 1_750_000_000.0
SPEC: dict[str, Any] = {
    "protocol": "Job",
    "providers": [{"name": "a", "providerRef": {"name": "pa"}}, {"name": "b", "providerRef": {"name": "pb"}}],
    "slo": {"latencyMillis": 60000},
    "budget": {"hourlyUSD": "5"},
}
BOTH_WELL = {"a": "", "b": ""}


def endpoint(**spec: Any) -> InferenceEndpoint:
    return inference_endpoint({"metadata": {"name": "tts", "generation": 3}, "spec": {**SPEC, **spec}})


def shown(*providers: ProviderShown, **fields: Any) -> EndpointShown:
    return EndpointShown(providers=providers or (ProviderShown(name="a"), ProviderShown(name="b")), **fields)


def status(seen: EndpointShown | None, health: dict[str, str], **spec: Any) -> InferenceEndpointStatus:
    return endpoint_status(endpoint(**spec), seen, health, "http://gateway/default/tts", NOW)


CASES: dict[str, tuple[EndpointShown | None, dict[str, str], tuple[str, str], str]] = {
    "all is well": (shown(), BOTH_WELL, ("Ready", "Serving"), "requests are answered"),
    "nobody knows the providers' health yet": (shown(), {}, ("Ready", "Serving"), ""),
    "no gateway was heard": (None, BOTH_WELL, ("NotReady", "NoGateway"), "no gateway has said"),
    "the manifest cannot be served": (shown(served=False, reason="SecretMissing", sentence="there is no Secret keys"),
                                      BOTH_WELL, ("NotReady", "SecretMissing"), "there is no Secret keys"),
    "one provider is not well": (shown(), {"a": "", "b": "its key is refused"}, ("Degraded", "SomeProvidersNotReady"),
                                 "b: its key is refused"),
    "one provider could not be made": (shown(ProviderShown(name="a"), ProviderShown(name="b", left_out="no Secret s")),
                                       {}, ("Degraded", "SomeProvidersNotReady"), "b: no Secret s"),
    "one provider is left alone": (shown(ProviderShown(name="a", circuit="Open"), ProviderShown(name="b")), BOTH_WELL,
                                   ("Degraded", "SomeProvidersNotReady"), "a: it is left alone for a while"),
    "no provider is well": (shown(), {"a": "silent", "b": "refused"}, ("NotReady", "ProvidersNotReady"),
                            "a: silent; b: refused"),
    "answers come too late": (shown(objective_seconds=72.14), BOTH_WELL, ("Degraded", "ObjectiveMissed"),
                              "99 % of the answers come within 72.1 s, 60 s are meant"),
    "answers come in time": (shown(objective_seconds=60.0), BOTH_WELL, ("Ready", "Serving"), ""),
    "what is left is for first attempts": (shown(may_hedge=False), BOTH_WELL, ("BudgetExhausted", "HedgingStopped"),
                                           "what is left is kept for first attempts"),
    "the budget is used up": (shown(may_hedge=False, exhausted=True), BOTH_WELL, ("BudgetExhausted", "BudgetUsedUp"),
                              "requests are rejected"),
}  # fmt: skip


@pytest.mark.parametrize(("seen", "health", "word", "said"), CASES.values(), ids=CASES.keys())
def test_stands_so_when(seen: EndpointShown | None, health: dict[str, str], word: tuple[str, str], said: str) -> None:
    found = status(seen, health)
    assert (found.state, found.reason) == word
    assert any(said in condition.message for condition in found.conditions)
    assert found.observed_generation == 3


def test_without_a_budget_there_is_no_condition_about_it() -> None:
    kinds = [condition.type for condition in status(shown(), BOTH_WELL, budget=None).conditions]
    assert kinds == ["Ready", "Degraded"]


def test_when_nothing_has_changed_the_status_is_the_same() -> None:
    first = status(shown(requests=4), BOTH_WELL)
    again = InferenceEndpoint(metadata=endpoint().metadata, spec=endpoint().spec, status=first)
    assert endpoint_status(again, shown(requests=4), BOTH_WELL, first.url, NOW + 60) == first


def test_figures_are_whole_numbers_and_money_is_text() -> None:
    a = ProviderShown(name="a", attempts={"won": 6, "failed": 1, "invalid": 1, "cancelled": 9}, cost_usd=0.01234)
    seen = shown(a, ProviderShown(name="b"), requests=8, hedged=2, hedge_wins=1, p95_seconds=1.2344, day_usd=0.5,
                 hour_usd=0.25)  # fmt: skip
    found = status(seen, BOTH_WELL)
    assert (found.requests, found.hedged_percent, found.hedge_wins, found.p95_millis) == (8, 25, 1, 1234)
    assert found.spend is not None
    assert (found.spend.hour_usd, found.spend.day_usd) == ("0.2500", "0.5000")
    assert (found.providers[0].attempts, found.providers[0].error_percent, found.providers[0].cost_usd) == (
        17, 25, "0.0123")  # fmt: skip
    assert found.providers[1].error_percent is None


def test_gateways_are_put_together() -> None:
    left = shown(ProviderShown(name="a", attempts={"won": 2}, p95_seconds=3.0, cost_usd=1.0), requests=2, hedged=1,
                 p95_seconds=3.0, day_usd=1.0, hour_usd=1.0, exhausted=True, may_hedge=False)  # fmt: skip
    right = shown(ProviderShown(name="a", attempts={"won": 4, "failed": 1}, p95_seconds=2.0, circuit="Open",
                                cost_usd=0.5), requests=5, p95_seconds=4.0, day_usd=0.5, leaked=1)  # fmt: skip
    both = merged([left, right])
    assert both is not None
    assert (both.requests, both.hedged, both.leaked, both.p95_seconds, both.day_usd) == (7, 1, 1, 4.0, 1.5)
    assert (both.exhausted, both.may_hedge) == (False, True)
    (a,) = both.providers
    assert (a.attempts, a.circuit, a.p95_seconds, a.cost_usd) == ({"won": 6, "failed": 1}, "Open", 3.0, 1.5)
    assert merged([]) is None


def test_one_gateway_that_cannot_serve_it_is_told_of() -> None:
    both = merged([shown(), shown(served=False, reason="SecretMissing", sentence="no")])
    assert both is not None
    assert (both.served, both.reason) == (False, "SecretMissing")


HEALTH: dict[str, tuple[ProviderHealth, tuple[str, str], str]] = {
    "it answers": (ProviderHealth(ok=True, warm=2, queued=0), ("Ready", "ProviderAnswers"), "True"),
    "it does not": (ProviderHealth(ok=False, sentence="key refused"), ("NotReady", "ProviderNotHealthy"), "False"),
    "its Secret is missing": (ProviderHealth(ok=False, reason="SecretMissing"), ("NotReady", "SecretMissing"), "False"),
    "nobody could ask": (ProviderHealth(ok=None), ("Unknown", "NotMeasured"), "Unknown"),
}


@pytest.mark.parametrize(("health", "word", "ready"), HEALTH.values(), ids=HEALTH.keys())
def test_a_provider_stands_so_when(health: ProviderHealth, word: tuple[str, str], ready: str) -> None:
    found = provider_status(PROVIDER, health, NOW)
    assert (found.state, found.reason, found.conditions[0].status) == (*word, ready)
    assert (found.warm, found.queued) == (health.warm, health.queued)

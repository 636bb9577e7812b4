"""The status of an InferenceEndpoint, from what its gateways show and what its providers say of their health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN, find_condition, is_true, set_condition
from hedgerow_operator.api.inference_endpoint import (
    BUDGET_EXHAUSTED,
    DEGRADED,
    READY,
    InferenceEndpoint,
    InferenceEndpointStatus,
    ProviderStatus,
    Spend,
)
from hedgerow_operator.api.status import Condition, ConditionStatus
from hedgerow_operator.core.endpoints.seen import CLOSED, EndpointShown, ProviderShown

NOT_READY = "NotReady"
_UNKNOWN = "Unknown"

# By the endpoint's name for a provider: an empty text where it is well, else why it is not. Absent: not known.
Health = Mapping[str, str]


def endpoint_status(
    endpoint: InferenceEndpoint, shown: EndpointShown | None, health: Health, url: str, now: float
) -> InferenceEndpointStatus:
    """shown: None: no gateway has been heard. now: seconds since the epoch."""
    old = endpoint.status
    conditions = tuple(kept for kept in old.conditions if kept.type != BUDGET_EXHAUSTED or endpoint.spec.budget)
    for condition in _conditions(endpoint, shown, health):
        conditions = set_condition(conditions, condition, now)
    status = msgspec.structs.replace(
        old, conditions=conditions, observed_generation=endpoint.metadata.generation, url=url
    )
    status = status if shown is None else _with_figures(status, endpoint, shown, health)
    state, reason = _in_a_word(conditions)
    return msgspec.structs.replace(status, state=state, reason=reason)


def _conditions(endpoint: InferenceEndpoint, shown: EndpointShown | None, health: Health) -> Iterator[Condition]:
    def condition(kind: str, status: ConditionStatus, reason: str, message: str) -> Condition:
        generation = endpoint.metadata.generation
        return Condition(type=kind, status=status, reason=reason, message=message, observed_generation=generation)

    if shown is None:
        told = "no gateway has said that it serves it"
        yield condition(READY, FALSE, reasons.NO_GATEWAY, told)
        yield condition(DEGRADED, UNKNOWN, reasons.NOT_MEASURED, told)
        return
    troubles = dict(_troubles(endpoint, shown, health))
    if not shown.served:
        yield condition(READY, FALSE, shown.reason, shown.sentence)
    elif len(troubles) == len(endpoint.spec.providers):
        yield condition(READY, FALSE, reasons.PROVIDERS_NOT_READY, _listed(troubles))
    else:
        yield condition(READY, TRUE, reasons.SERVING, "requests are answered")
    missed = _missed(endpoint, shown)
    if troubles:
        yield condition(DEGRADED, TRUE, reasons.SOME_PROVIDERS_NOT_READY, _listed(troubles))
    elif missed:
        yield condition(DEGRADED, TRUE, reasons.OBJECTIVE_MISSED, missed)
    else:
        yield condition(DEGRADED, FALSE, reasons.AS_USUAL, "")
    if endpoint.spec.budget is None:
        return
    if shown.exhausted:
        yield condition(
            BUDGET_EXHAUSTED, TRUE, reasons.BUDGET_USED_UP, "requests are rejected until there is some again"
        )
    elif not shown.may_hedge:
        told = "what is left is kept for first attempts"
        yield condition(BUDGET_EXHAUSTED, TRUE, reasons.HEDGING_STOPPED, told)
    else:
        yield condition(BUDGET_EXHAUSTED, FALSE, reasons.WITHIN_BUDGET, "")


def _troubles(endpoint: InferenceEndpoint, shown: EndpointShown, health: Health) -> Iterator[tuple[str, str]]:
    """Providers that are not used now, with why."""
    by_name = {provider.name: provider for provider in shown.providers}
    for use in endpoint.spec.providers:
        provider = by_name.get(use.name)
        if provider is not None and provider.left_out:
            yield use.name, provider.left_out
        elif health.get(use.name):
            yield use.name, health[use.name]
        elif provider is not None and provider.circuit != CLOSED:
            yield use.name, "it is left alone for a while, after failures"


def _listed(troubles: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in troubles.items())


def _missed(endpoint: InferenceEndpoint, shown: EndpointShown) -> str:
    slo = endpoint.spec.slo
    if slo is None or shown.objective_seconds is None or shown.objective_seconds * 1000 <= slo.latency_millis:
        return ""
    return (
        f"{slo.objective_percent} % of the answers come within {shown.objective_seconds:.1f} s,"
        f" {slo.latency_millis / 1000:g} s are meant"
    )


def _with_figures(
    status: InferenceEndpointStatus, endpoint: InferenceEndpoint, shown: EndpointShown, health: Health
) -> InferenceEndpointStatus:
    by_name = {provider.name: provider for provider in shown.providers}
    spend = None
    if shown.hour_usd is not None and shown.day_usd is not None:
        spend = Spend(hour_usd=_usd(shown.hour_usd), day_usd=_usd(shown.day_usd))
    return msgspec.structs.replace(
        status,
        providers=tuple(
            _provider(by_name.get(use.name, ProviderShown(name=use.name)), health.get(use.name))
            for use in endpoint.spec.providers
        ),
        requests=shown.requests,
        hedged_percent=round(100 * shown.hedged / shown.requests) if shown.requests else None,
        hedge_wins=shown.hedge_wins,
        p50_millis=_millis(shown.p50_seconds),
        p95_millis=_millis(shown.p95_seconds),
        leaked=shown.leaked,
        spend=spend,
    )


def _provider(shown: ProviderShown, health: str | None) -> ProviderStatus:
    ready = _UNKNOWN if health is None else READY if not health else NOT_READY
    return ProviderStatus(
        name=shown.name,
        state=NOT_READY if shown.left_out else ready,
        circuit=shown.circuit,
        attempts=sum(shown.attempts.values()),
        p50_millis=_millis(shown.p50_seconds),
        p95_millis=_millis(shown.p95_seconds),
        error_percent=shown.error_percent,
        cost_usd=None if shown.cost_usd is None else _usd(shown.cost_usd),
    )


def _in_a_word(conditions: tuple[Condition, ...]) -> tuple[str, str]:
    """State and reason."""
    ready = find_condition(conditions, READY)
    if ready is None or ready.status != TRUE:
        return NOT_READY, ready.reason if ready is not None else ""
    for kind in (BUDGET_EXHAUSTED, DEGRADED):
        found = find_condition(conditions, kind)
        if found is not None and is_true(conditions, kind):
            return kind, found.reason
    return READY, ready.reason


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _usd(amount: float) -> str:
    """Four digits behind the point: hundredths of a cent."""
    return f"{amount:.4f}"

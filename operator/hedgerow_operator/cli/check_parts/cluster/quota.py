"""Whether the namespace's quota has room for every worker: the server's own trial judges only one pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import objects

_error, _warning, _fine = about("quota")

Amounts = Mapping[str, Decimal]
_NONE = Decimal(0)
# Suffixes of quantities, longest first (Kubernetes API, resource.Quantity).
_SUFFIXES = {
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)},
}  # fmt: skip


async def quota_findings(site: Site, pod: Mapping[str, Any]) -> list[Finding]:
    """pod: one worker as the server would store it, with what a LimitRange has filled in."""
    quotas = await site.ask.list(f"/api/v1/namespaces/{site.namespace}/resourcequotas")
    if not quotas:
        return []
    asked = amounts_of(pod)
    short = [told for quota in quotas for told in _short(quota, asked, site.job.spec.workers)]
    if short:
        return [_error(told) for told in short]
    return [_fine(f"the quota of namespace {site.namespace} has room for {site.job.spec.workers} workers now")]


def amounts_of(pod: Mapping[str, Any]) -> Amounts:
    """What one pod counts for in a quota: by the names that a quota uses."""
    counted: dict[str, Decimal] = {"pods": Decimal(1), "count/pods": Decimal(1)}
    for kind in ("requests", "limits"):
        for name, amount in _of_kind(pod, kind).items():
            counted[f"{kind}.{name}"] = amount
            if kind == "requests":
                counted[name] = amount
    return counted


def _of_kind(pod: Mapping[str, Any], kind: str) -> Amounts:
    """The sum of its containers, or the largest at its beginning (Kubernetes: effective request)."""
    kept: Amounts = {}
    most: Amounts = {}
    for container in objects(pod["spec"], "initContainers"):
        amounts = _resources(container, kind)
        if container.get("restartPolicy") == "Always":
            kept = _sum(kept, amounts)
            most = _larger(most, kept)
        else:
            most = _larger(most, _sum(kept, amounts))
    running = kept
    for container in objects(pod["spec"], "containers"):
        running = _sum(running, _resources(container, kind))
    return _larger(running, most)


def _resources(container: Mapping[str, Any], kind: str) -> Amounts:
    amounts = (container.get("resources") or {}).get(kind) or {}
    return {name: quantity(text) for name, text in amounts.items()}


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, _NONE) + other.get(name, _NONE) for name in (*one, *other)}


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, _NONE), other.get(name, _NONE)) for name in (*one, *other)}


def _short(quota: Mapping[str, Any], asked: Amounts, workers: int) -> Iterator[str]:
    spec, status = quota.get("spec") or {}, quota.get("status") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return  # for some pods only
    for name, hard in (spec.get("hard") or {}).items():
        if name not in asked:
            continue
        left = quantity(hard) - quantity((status.get("used") or {}).get(name, "0"))
        room = int(left / asked[name]) if asked[name] else workers
        if room < workers:
            yield (
                f"the quota {quota['metadata']['name']} allows {hard} of {name} and has room for {max(room, 0)} of "
                f"{workers} workers now; they would wait for each other"
            )


def quantity(text: object) -> Decimal:
    """The number that a quantity stands for; 0 for what is none."""
    written = str(text)
    suffix = next((suffix for suffix in _SUFFIXES if written.endswith(suffix)), "")
    try:
        return Decimal(written.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except InvalidOperation:
        return _NONE

"""Who may act: one operator at a time, by a Lease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.reconcile.ports import Unreachable

# Defaults of client-go's leader election, as kube-controller-manager uses them.
LEASE_SECONDS = 15
RENEW_SECONDS = 10.0
RETRY_SECONDS = 2.0


class Term(Struct, frozen=True, kw_only=True):
    """What a Lease says. holder: empty when it was given back. seconds: how long it holds without being renewed."""

    holder: str
    renewed: str
    seconds: float


def term(lease: Fields) -> Term:
    """The term in a Lease object."""
    spec = lease.get("spec") or {}
    return Term(
        holder=spec.get("holderIdentity") or "",
        renewed=spec.get("renewTime") or "",
        seconds=float(spec.get("leaseDurationSeconds") or LEASE_SECONDS),
    )


class LeaseLeadership:
    """Implements reconcile.ports.Leadership. Clocks of two machines are never compared.

    holds() is true for RENEW_SECONDS after a renewal was sent; another operator waits until it has seen the Lease
    unchanged for LEASE_SECONDS. So a process that was frozen finds holds() false before it can do anything.
    clock: seconds that go on while the machine sleeps. identity: unique to this process. api must allow writes.
    """

    def __init__(self, api: Api, namespace: str, name: str, identity: str, clock: Callable[[], float]) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._clock = clock
        self._renewed_at: float | None = None
        self._seen: Term | None = None
        self._seen_at = 0.0

    def holds(self) -> bool:
        return self._renewed_at is not None and self._clock() - self._renewed_at < RENEW_SECONDS

    async def acquire(self) -> None:
        """Return once this process leads."""
        while not await self.attempt():  # noqa: ASYNC110  (another process holds what this waits for)
            await asyncio.sleep(RETRY_SECONDS)

    async def keep(self) -> None:
        """Renew until that is no longer possible; then this process must act no more."""
        while self.holds():
            await asyncio.sleep(RETRY_SECONDS)
            await self.attempt()

    async def release(self) -> None:
        """Give the Lease back, so that another operator need not wait. Nothing may be acted on any more."""
        held, self._renewed_at = self.holds(), None
        if held:
            try:
                lease = await self._api.get(self._path())
                if term(lease).holder == self._identity:
                    await self._api.replace(self._path(), self._lease(lease, holder="", seconds=1))
            except (Unreachable, Rejected):
                return

    async def attempt(self) -> bool:
        """Take or renew the Lease if that is allowed now; whether this process leads."""
        try:
            await self._try()
        except (Unreachable, Rejected):
            # Not renewed; holds() runs out by itself.
            return self.holds()
        return self.holds()

    async def _try(self) -> None:
        sent = self._clock()
        lease = await self._api.find(self._path())
        if lease is None:
            await self._api.create(paths.leases(self._namespace), self._lease(None, self._identity, LEASE_SECONDS))
        elif self._may_take(term(lease)):
            await self._api.replace(self._path(), self._lease(lease, self._identity, LEASE_SECONDS))
        else:
            self._renewed_at = None
            return
        self._renewed_at = sent

    def _may_take(self, found: Term) -> bool:
        if found != self._seen:
            self._seen, self._seen_at = found, self._clock()
        if found.holder in ("", self._identity):
            return True
        return self._clock() - self._seen_at >= found.seconds

    def _lease(self, old: Fields | None, holder: str, seconds: int) -> Fields:
        """The Lease to write; an old one keeps its resourceVersion, so that only one of two takers succeeds."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec: dict[str, Any] = dict((old or {}).get("spec") or {})
        if spec.get("holderIdentity") != holder:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + (1 if old else 0)
        spec |= {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": now}
        metadata = old["metadata"] if old else {"name": self._name, "namespace": self._namespace}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}

    def _path(self) -> str:
        return f"{paths.leases(self._namespace)}/{self._name}"

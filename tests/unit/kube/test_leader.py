"""One operator acts at a time, whatever freezes, dies or is cut off."""

from __future__ import annotations

from typing import Any, cast

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.leader import LEASE_SECONDS, RENEW_SECONDS, LeaseLeadership
from tests.unit.kube.store import OUTAGE, Store

PATH = "/apis/coordination.k8s.io/v1/namespaces/home/leases/hedgerow-operator"


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def candidate(store: Store, clock: Clock, identity: str) -> LeaseLeadership:
    return LeaseLeadership(cast("Api", store), "home", "hedgerow-operator", identity, clock)


def spec(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = store.objects[PATH]["spec"]
    return found


async def test_the_first_one_leads_and_the_second_waits() -> None:
    store, clock = Store(), Clock()
    first, second = candidate(store, clock, "first"), candidate(store, clock, "second")
    assert await first.attempt()
    assert not await second.attempt()
    assert (first.holds(), second.holds()) == (True, False)
    assert spec(store)["holderIdentity"] == "first"


async def test_nobody_leads_before_trying() -> None:
    assert not candidate(Store(), Clock(), "first").holds()


async def test_who_was_frozen_finds_that_it_leads_no_more_before_it_asks_anybody() -> None:
    store, clock = Store(), Clock()
    first = candidate(store, clock, "first")
    await first.attempt()
    asked = len(store.calls)
    clock.now += RENEW_SECONDS
    assert not first.holds()
    assert len(store.calls) == asked


async def test_the_second_takes_over_only_after_the_first_has_stopped_believing() -> None:
    store, clock = Store(), Clock()
    first, second = candidate(store, clock, "first"), candidate(store, clock, "second")
    await first.attempt()
    await second.attempt()
    while not await second.attempt():
        clock.now += 0.5
        assert not (first.holds() and second.holds())
    assert clock.now >= 1000 + LEASE_SECONDS
    assert (first.holds(), second.holds()) == (False, True)
    assert spec(store)["leaseTransitions"] == 1


async def test_a_second_that_has_just_started_waits_as_long_as_one_that_was_there() -> None:
    store, clock = Store(), Clock()
    await candidate(store, clock, "first").attempt()
    clock.now += 100
    late = candidate(store, clock, "late")
    assert not await late.attempt()
    clock.now += LEASE_SECONDS
    assert await late.attempt()


async def test_each_renewal_starts_the_waiting_anew() -> None:
    store, clock = Store(), Clock()
    first, second = candidate(store, clock, "first"), candidate(store, clock, "second")
    for _ in range(30):
        assert await first.attempt()
        assert not await second.attempt()
        clock.now += 2


async def test_of_two_that_take_at_once_one_succeeds() -> None:
    store, clock = Store(), Clock()
    await candidate(store, clock, "gone").attempt()
    second, third = candidate(store, clock, "second"), candidate(store, clock, "third")
    await second.attempt()
    await third.attempt()
    clock.now += LEASE_SECONDS
    real_find = store.find

    async def find_then_be_overtaken(path: str) -> dict[str, Any] | None:
        found = await real_find(path)
        store.find = real_find  # type: ignore[method-assign]
        assert await third.attempt()
        return found

    store.find = find_then_be_overtaken  # type: ignore[method-assign]
    assert not await second.attempt()
    assert third.holds()


async def test_an_outage_shorter_than_the_renewal_time_changes_nothing_and_a_longer_one_ends_the_lead() -> None:
    store, clock = Store(), Clock()
    first = candidate(store, clock, "first")
    await first.attempt()
    store.failing = OUTAGE
    clock.now += RENEW_SECONDS - 1
    assert await first.attempt()
    clock.now += 1
    assert not await first.attempt()


async def test_a_renewal_counts_from_when_it_was_sent_not_from_when_it_was_answered() -> None:
    store, clock = Store(), Clock()
    first = candidate(store, clock, "first")
    real_create = store.create

    async def slow(path: str, body: dict[str, Any]) -> dict[str, Any]:
        clock.now += RENEW_SECONDS
        return await real_create(path, body)

    store.create = slow  # type: ignore[method-assign]
    assert not await first.attempt()


async def test_who_finds_another_holder_stops_at_once() -> None:
    store, clock = Store(), Clock()
    first = candidate(store, clock, "first")
    await first.attempt()
    store.put(PATH, {"metadata": {}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": "x"}})
    assert not await first.attempt()


async def test_given_back_it_can_be_taken_at_once() -> None:
    store, clock = Store(), Clock()
    first, second = candidate(store, clock, "first"), candidate(store, clock, "second")
    await first.attempt()
    await second.attempt()
    await first.release()
    assert not first.holds()
    assert await second.attempt()


async def test_who_does_not_lead_gives_nothing_back() -> None:
    store, clock = Store(), Clock()
    await candidate(store, clock, "first").attempt()
    await candidate(store, clock, "second").release()
    assert spec(store)["holderIdentity"] == "first"

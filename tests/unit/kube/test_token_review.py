"""A report is believed only from the pod of the worker that it is about."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from hedgerow.wire import STAGE_RUNNING, JobRef, Report
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.token_review import (
    FRESH_SECONDS,
    RENEWED_SECONDS,
    STALE_SECONDS,
    Reviews,
    TokenReviews,
)
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import Denied
from tests.unit.kube.store import OUTAGE, Store
from tests.unit.kube.test_leader import Clock

POD = "/api/v1/namespaces/research/pods/bert-1-0-abcde"
TOKEN = "header.payload.signature"


def report(**changes: Any) -> Report:
    fields: dict[str, Any] = {
        "job": JobRef(uid="job-uid", namespace="research", name="bert"),
        "placement": 1,
        "worker": 0,
        "workers": 2,
        "ranks_per_worker": 4,
        "boot": "boot",
        "launcher": "launcher",
        "seq": 1,
        "sent_monotonic": 1.0,
        "sent_wall": 1.0,
        "stage": STAGE_RUNNING,
    }
    return Report(**{**fields, **changes})


def review(**changes: Any) -> dict[str, Any]:
    extra = {
        "authentication.kubernetes.io/pod-name": ["bert-1-0-abcde"],
        "authentication.kubernetes.io/pod-uid": ["pod-uid"],
    }
    user = {"username": "system:serviceaccount:research:default", "extra": extra}
    return {"authenticated": True, "audiences": ["hedgerow"], "user": user, **changes}


def pod(**changes: Any) -> dict[str, Any]:
    labels = {
        "hedgerow.dev/job-uid": "job-uid",
        "hedgerow.dev/placement": "1",
        "batch.kubernetes.io/job-completion-index": "0",
    }
    return {
        "metadata": {"name": "bert-1-0-abcde", "namespace": "research", "uid": "pod-uid", "labels": labels, **changes}
    }


@pytest.fixture
def store() -> Store:
    store = Store()
    store.review = review()
    store.put(POD, pod())
    return store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reviews(store: Store, clock: Clock) -> TokenReviews:
    return TokenReviews(Reviews(cast("Api", store), clock))


async def test_the_worker_itself_is_believed(reviews: TokenReviews) -> None:
    await reviews.check(TOKEN, report())


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"job": JobRef(uid="other", namespace="research", name="bert")}, id="another job"),
        pytest.param({"job": JobRef(uid="job-uid", namespace="other", name="bert")}, id="another namespace"),
        pytest.param({"worker": 1}, id="another worker"),
        pytest.param({"placement": 2}, id="another placement"),
    ],
)
async def test_nobody_reports_for_another(reviews: TokenReviews, changes: dict[str, Any]) -> None:
    with pytest.raises(Denied, match="may report for itself only") as caught:
        await reviews.check(TOKEN, report(**changes))
    assert caught.value.identified


@pytest.mark.parametrize(
    ("status", "why"),
    [
        pytest.param({"authenticated": False, "error": f"bad {TOKEN}"}, "does not accept the token", id="not accepted"),
        pytest.param(review(audiences=["https://kubernetes"]), "another audience", id="made for another audience"),
        pytest.param(review(user={"username": "system:serviceaccount:research:default"}), "not bound", id="of no pod"),
        pytest.param(
            review(user={"username": "jane", "extra": review()["user"]["extra"]}), "not bound", id="of a person"
        ),
        pytest.param(
            review(user={"username": "system:serviceaccount:other:x", "extra": review()["user"]["extra"]}),
            "exists no more",
            id="of a pod in another namespace",
        ),
    ],
)
async def test_no_other_token_is_believed(
    store: Store, reviews: TokenReviews, status: dict[str, Any], why: str
) -> None:
    store.review = status
    with pytest.raises(Denied, match=why) as caught:
        await reviews.check(TOKEN, report())
    assert not caught.value.identified
    assert TOKEN not in str(caught.value)


async def test_no_token_is_not_believed(reviews: TokenReviews) -> None:
    with pytest.raises(Denied, match="no token"):
        await reviews.check(None, report())


async def test_a_pod_that_was_replaced_by_another_of_its_name_is_not_believed(
    store: Store, reviews: TokenReviews
) -> None:
    store.put(POD, pod(uid="another"))
    with pytest.raises(Denied, match="exists no more"):
        await reviews.check(TOKEN, report())


async def test_a_token_is_reviewed_once_in_minutes_only(store: Store, reviews: TokenReviews, clock: Clock) -> None:
    for _ in range(5):
        await reviews.check(TOKEN, report())
    assert len(store.calls) == 2
    clock.now += RENEWED_SECONDS
    await reviews.check(TOKEN, report())
    assert len(store.calls) == 4


async def test_who_was_believed_is_believed_while_the_token_is_reviewed_again(
    store: Store, reviews: TokenReviews, clock: Clock
) -> None:
    await reviews.check(TOKEN, report())
    clock.now += FRESH_SECONDS
    assert reviews.recall(TOKEN, report())
    assert len(store.calls) == 2
    store.review = {"authenticated": False}
    await asyncio.sleep(0.05)
    with pytest.raises(Denied):
        reviews.recall(TOKEN, report())


async def test_while_the_api_server_is_away_those_who_were_believed_do_not_wait_for_it(
    store: Store, reviews: TokenReviews, clock: Clock
) -> None:
    await reviews.check(TOKEN, report())
    store.failing = OUTAGE
    clock.now += RENEWED_SECONDS
    await reviews.check(TOKEN, report())
    assert reviews.recall(TOKEN, report())
    clock.now += STALE_SECONDS
    assert not reviews.recall(TOKEN, report())


async def test_reports_with_one_new_token_ask_once(store: Store, reviews: TokenReviews) -> None:
    await asyncio.gather(*[reviews.check(TOKEN, report()) for _ in range(20)])
    assert len(store.calls) == 2


async def test_a_refusal_is_remembered_too(store: Store, reviews: TokenReviews) -> None:
    store.review = {"authenticated": False}
    for _ in range(5):
        with pytest.raises(Denied):
            await reviews.check(TOKEN, report())
    assert len(store.calls) == 1


async def test_an_outage_of_the_api_server_stops_nobody_who_was_believed_before(
    store: Store, reviews: TokenReviews, clock: Clock
) -> None:
    await reviews.check(TOKEN, report())
    store.failing = OUTAGE
    clock.now += RENEWED_SECONDS
    await reviews.check(TOKEN, report())
    with pytest.raises(Denied):
        await reviews.check(TOKEN, report(worker=1))
    clock.now += STALE_SECONDS
    with pytest.raises(Unreachable):
        await reviews.check(TOKEN, report())


@pytest.mark.parametrize("failure", [OUTAGE, Rejected(403, "Forbidden", "no right")])
async def test_a_stranger_is_neither_believed_nor_refused_while_nobody_can_be_asked(
    store: Store, reviews: TokenReviews, failure: Exception
) -> None:
    store.failing = failure
    with pytest.raises(Unreachable):
        await reviews.check(TOKEN, report())


async def test_no_token_is_kept(reviews: TokenReviews) -> None:
    await reviews.check(TOKEN, report())
    assert TOKEN not in repr(vars(reviews._reviews))

"""An agent is believed about the node that it runs on, if it is one of ours."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec import Struct

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.token_review import AgentReviews, Reviews
from hedgerow_operator.server.auth import Denied
from tests.unit.kube.store import Store
from tests.unit.kube.test_leader import Clock

POD = "/api/v1/namespaces/hedgerow-system/pods/hedgerow-agent-x7k2p"
TOKEN = "header.payload.signature"


class Claim(Struct, frozen=True):
    node: str


def store(user: str = "system:serviceaccount:hedgerow-system:hedgerow-agent", **spec: Any) -> Store:
    found = Store()
    extra = {
        "authentication.kubernetes.io/pod-name": ["hedgerow-agent-x7k2p"],
        "authentication.kubernetes.io/pod-uid": ["pod-uid"],
    }
    found.review = {"authenticated": True, "audiences": ["hedgerow"], "user": {"username": user, "extra": extra}}
    metadata = {"name": "hedgerow-agent-x7k2p", "namespace": "hedgerow-system", "uid": "pod-uid"}
    found.put(POD, {"metadata": metadata, "spec": {"nodeName": "node-a", **spec}})
    return found


def reviews(store: Store) -> AgentReviews:
    return AgentReviews(Reviews(cast("Api", store), Clock()), "hedgerow-system/hedgerow-agent")


async def test_an_agent_is_believed_about_its_own_node() -> None:
    agents = reviews(store())
    await agents.check(TOKEN, Claim("node-a"))
    assert agents.recall(TOKEN, Claim("node-a"))


@pytest.mark.parametrize(
    ("found", "node", "why"),
    [
        pytest.param(store(), "node-b", "runs on node node-a and may not report for node-b", id="another node"),
        pytest.param(store(nodeName=None), "", "may not report", id="no node yet"),
        pytest.param(
            store(user="system:serviceaccount:hedgerow-system:default"),
            "node-a",
            "is no node agent",
            id="another account",
        ),
    ],
)
async def test_nobody_else_is(found: Store, node: str, why: str) -> None:
    agents = reviews(found)
    with pytest.raises(Denied, match=why) as caught:
        await agents.check(TOKEN, Claim(node))
    assert caught.value.identified
    with pytest.raises(Denied, match=why):
        agents.recall(TOKEN, Claim(node))


async def test_an_account_of_the_same_name_in_another_namespace_is_no_agent() -> None:
    found = store(user="system:serviceaccount:research:hedgerow-agent")
    found.put(
        "/api/v1/namespaces/research/pods/hedgerow-agent-x7k2p",
        {
            "metadata": {"name": "hedgerow-agent-x7k2p", "namespace": "research", "uid": "pod-uid"},
            "spec": {"nodeName": "node-a"},
        },
    )
    with pytest.raises(Denied, match="is no node agent"):
        await reviews(found).check(TOKEN, Claim("node-a"))

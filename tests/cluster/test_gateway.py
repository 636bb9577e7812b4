"""A gateway as the chart runs it: it serves an endpoint that is applied, refuses strangers, and comes back."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cluster.scenario.gateway import ENDPOINT, NAME, POD, PROVIDERS, Answer, Gateway, said
from tests.cluster.scenario.manifests import Fields
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster

pytestmark = pytest.mark.timeout(240)


class Story(NamedTuple):
    """What was seen on the way. after: of the pod that came back."""

    namespace: str
    first: Answer
    stranger: Answer
    status: Fields
    provider: Fields
    before: Fields
    after: Fields
    again: Answer


@pytest.fixture(scope="module")
def gateway(operator: InstalledOperator) -> Iterator[Gateway]:
    """It runs; afterwards Hedgerow is as it was."""
    found = Gateway(operator)
    try:
        found.install()
        yield found
    finally:
        found.remove()


@pytest.fixture(scope="module")
def story(cluster: Cluster, gateway: Gateway) -> Iterator[Story]:
    """One endpoint through all of it."""
    with cluster.namespace("serve") as namespace:
        gateway.apply_endpoint(namespace)
        first = gateway.wait_answer(namespace)
        stranger = gateway.ask(namespace, key="somebody-else")
        cluster.wait_for("requests in the status", lambda _: gateway.status(namespace).get("requests"), 40)
        status = gateway.status(namespace)
        provider = gateway.status(namespace, "serverlessproviders", PROVIDERS[0])
        before = gateway.pod()
        cluster.kubectl("-n", hedgerow.NAMESPACE, "delete", "pod", POD, "--wait=false")
        cluster.wait_for("another pod of the gateway", lambda _: _ready_after(gateway.pod(), before), 60)
        again = gateway.wait_answer(namespace)
        yield Story(namespace, first, stranger, status, provider, before, gateway.pod(), again)


def _ready_after(pod: Fields, before: Fields) -> bool:
    if not pod or pod["metadata"]["uid"] == before["metadata"]["uid"]:
        return False
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in pod["status"].get("conditions", []))


def test_a_request_through_the_service_is_answered_and_says_by_which_provider(story: Story) -> None:
    assert (story.first.status, story.first.provider) == (200, PROVIDERS[0])
    assert said(story.first)["status"] == "COMPLETED"


def test_who_has_no_key_of_the_endpoint_is_refused(story: Story) -> None:
    assert story.stranger.status == 401, story.stranger


def test_the_status_says_that_it_serves_where_and_how_much(story: Story) -> None:
    status = story.status
    assert (status["state"], status["requests"] >= 1) == ("Ready", True), status
    assert status["url"] == f"http://{NAME}.{hedgerow.NAMESPACE}.svc/{story.namespace}/{ENDPOINT}"
    assert story.provider["state"] == "Ready", story.provider


def test_a_gateway_whose_pod_is_deleted_comes_back_and_serves(story: Story) -> None:
    assert story.after["metadata"]["uid"] != story.before["metadata"]["uid"]
    assert story.again.status == 200


def test_it_keeps_to_the_restricted_standard_under_an_account_of_its_own(story: Story, cluster: Cluster) -> None:
    # The namespace enforced the standard when the second pod was made.
    spec = story.after["spec"]
    assert (spec["serviceAccountName"], spec["securityContext"]["runAsNonRoot"]) == (NAME, True)
    (container,) = spec["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    account = f"--as=system:serviceaccount:{hedgerow.NAMESPACE}:{NAME}"
    rights = cluster.kubectl("auth", "can-i", "--list", "-n", story.namespace, account)
    (secrets,) = (line.split() for line in rights.splitlines() if line.split()[:1] == ["secrets"])
    assert secrets[-1] == "[get]", rights

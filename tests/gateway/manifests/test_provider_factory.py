"""Each type of ServerlessProvider becomes its adapter, and says in a sentence what it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.api.inference_spec import HedgeSpec
from hedgerow_operator.api.serverless_provider import serverless_provider
from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.cutover import Cascade, QueueCutover
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge, Race
from hedgerow_operator.gateway.from_manifests import policy_of
from hedgerow_operator.gateway.provider_factory import provider_of
from tests.unit.api.bad_inference_manifests import GOOD_PROVIDERS

SECRETS = {"apiKey": "k", "tokenId": "i", "tokenSecret": "s", "agentToken": "a"}
MADE = {
    "RunPod": "RunPodBalanced",
    "Modal": "ModalWrapped",
    "Vast": "Vast",
    "Lambda": "LambdaPool",
    "Cerebrium": "Cerebrium",
    "HTTP as it is": "PassThrough",
    "HTTP as declared": "DeclaredHTTP",
    "Kubernetes": "Kubernetes",
    "Simulated": "Simulated",
}


def fields(name: str, **changes: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {**GOOD_PROVIDERS[name], **changes}}


@pytest.mark.parametrize(("name", "kind"), MADE.items(), ids=MADE.keys())
async def test_a_type_becomes_its_adapter(name: str, kind: str) -> None:
    made = provider_of(serverless_provider(fields(name)), "mine", SECRETS)
    assert (type(made).__name__, made.name) == (kind, "mine")
    await made.close()


async def test_prices_and_idle_time_reach_the_adapter() -> None:
    made = provider_of(serverless_provider(fields("RunPod", runpod={"mode": "Queue"})), "mine", SECRETS)
    assert (type(made).__name__, made.usd_per_second, made.idle_billed_seconds) == ("RunPod", 0.000306, 60.0)
    await made.close()


async def test_a_header_without_its_key_is_refused_by_name_alone() -> None:
    declared = serverless_provider(fields("HTTP as it is", http={"headers": {"X-Key": "${other}"}}))
    with pytest.raises(ValueError, match=r"http.headers.X-Key wants the key other, which the Secret does not have"):
        provider_of(declared, "mine", SECRETS)


async def test_a_plugin_that_is_not_installed_is_told() -> None:
    with pytest.raises(ValueError, match="no provider plugin is called 'mine' here"):
        provider_of(serverless_provider(fields("Plugin")), "mine", {})


def test_policies_are_made_with_the_times_that_are_written() -> None:
    assert policy_of(HedgeSpec()) == Adaptive()
    assert policy_of(HedgeSpec(cutover_millis=1000)) == Adaptive(cutover_seconds=1.0)
    assert policy_of(HedgeSpec(policy="Fixed", after_millis=500)) == Fixed(after_seconds=0.5)
    assert policy_of(HedgeSpec(policy="QueueCutover", safety_millis=9000)) == QueueCutover(safety_seconds=9.0)
    assert policy_of(HedgeSpec(policy="Cascade", max_live=3)) == Cascade(most_live=3)
    assert policy_of(HedgeSpec(policy="Race")) == Race()
    assert policy_of(HedgeSpec(policy="None")) == NoHedge()

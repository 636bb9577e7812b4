"""What a run says of an endpoint at its end: a table."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hedgerow_operator.api.inference_endpoint import InferenceEndpointStatus, Spend, inference_endpoint
from hedgerow_operator.cli.serving.summary import summary

USE = {"name": "a", "providerRef": {"name": "a"}}
ENDPOINT = inference_endpoint({"metadata": {"name": "tts"}, "spec": {"protocol": "Job", "providers": [USE]}})
SPEND = Spend(hour_usd="0.5000", day_usd="1.2500")

CASES: dict[str, tuple[InferenceEndpointStatus, float, str]] = {
    "nobody asked": (InferenceEndpointStatus(), 0.0, "default/tts was asked nothing"),
    "nobody counts money": (InferenceEndpointStatus(requests=1), 0.0, "default/tts answered 1 request"),
    "all is spent": (
        InferenceEndpointStatus(requests=2, spend=SPEND), 0.0, "default/tts answered 2 requests; $1.2500 spent"
    ),
    "a part is only held": (
        InferenceEndpointStatus(requests=2, spend=SPEND), 1.0,
        "default/tts answered 2 requests; $0.2500 spent; $1.0000 held for attempts whose cost is not known yet",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_at_the_end(case: str) -> None:
    status, held, said = CASES[case]
    assert summary(replace(ENDPOINT, status=status), held) == said

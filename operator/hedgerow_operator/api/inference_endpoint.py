"""The InferenceEndpoint object: requests to it go to several serverless GPU providers. Times are RFC 3339."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hedgerow_operator.api.inference_spec import InferenceEndpointSpec
from hedgerow_operator.api.labels import API_VERSION, INFERENCE_ENDPOINT_KIND
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.model import Model, list_keyed_by, to_builtins
from hedgerow_operator.api.status import Condition

READY = "Ready"
DEGRADED = "Degraded"
BUDGET_EXHAUSTED = "BudgetExhausted"


class ProviderStatus(Model, frozen=True, kw_only=True):
    """One provider of the endpoint, over all gateways."""

    name: Annotated[str, Meta(description="What the endpoint calls it.")]
    state: Annotated[str, Meta(description="Ready, NotReady, or Unknown before its health was asked for.")] = ""
    circuit: Annotated[str, Meta(description="Closed, or Open while it is left alone.")] = ""
    attempts: Annotated[int, Meta(description="Attempts at it since the gateways began.")] = 0
    p50_millis: Annotated[int | None, Meta(description="Median time of its valid answers lately.")] = None
    p95_millis: Annotated[int | None, Meta(description="95th percentile of it.")] = None
    error_percent: Annotated[int | None, Meta(description="Attempts that failed or answered wrongly.")] = None
    cost_usd: Annotated[str | None, Meta(description="What attempts at it have cost today.")] = msgspec.field(
        default=None, name="costUSD"
    )


class Spend(Model, frozen=True, kw_only=True):
    """What was spent, in US dollars; held worst cases included."""

    hour_usd: Annotated[str, Meta(description="This hour.")] = msgspec.field(name="hourUSD")
    day_usd: Annotated[str, Meta(description="Today.")] = msgspec.field(name="dayUSD")


class InferenceEndpointStatus(Model, frozen=True, kw_only=True):
    """What is known of the endpoint."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(description="State of the endpoint, one entry a type.", extra_json_schema=list_keyed_by("type")),
    ] = ()
    observed_generation: Annotated[int, Meta(description="Generation of the spec that was last acted on.")] = 0
    state: Annotated[str, Meta(description="The conditions in one word.")] = ""
    reason: Annotated[str, Meta(description="Why, in one word.")] = ""
    url: Annotated[str, Meta(description="Where clients reach it.")] = ""
    providers: Annotated[
        tuple[ProviderStatus, ...],
        Meta(description="Its providers.", extra_json_schema=list_keyed_by("name")),
    ] = ()
    requests: Annotated[int, Meta(description="Requests since the gateways began.")] = 0
    hedged_percent: Annotated[int | None, Meta(description="Requests with a second attempt beside the first.")] = None
    hedge_wins: Annotated[int, Meta(description="Requests that another attempt than the first won.")] = 0
    p50_millis: Annotated[int | None, Meta(description="Median time of answers lately.")] = None
    p95_millis: Annotated[int | None, Meta(description="95th percentile of it.")] = None
    leaked: Annotated[int, Meta(description="Given up attempts of which no end was seen.")] = 0
    spend: Annotated[Spend | None, Meta(description="What was spent.")] = None


class InferenceEndpoint(Model, frozen=True, kw_only=True):
    """One endpoint."""

    api_version: str = API_VERSION
    kind: str = INFERENCE_ENDPOINT_KIND
    metadata: ObjectMeta
    spec: InferenceEndpointSpec
    status: InferenceEndpointStatus = InferenceEndpointStatus()


def inference_endpoint(fields: dict[str, Any]) -> InferenceEndpoint:
    """The InferenceEndpoint in a plain dict, such as the API server gives; ValueError names the field that is wrong."""
    try:
        return msgspec.convert(fields, InferenceEndpoint)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def inference_endpoint_fields(endpoint: InferenceEndpoint) -> dict[str, Any]:
    """The plain dict of an endpoint, with the names of the API; what is None is left out."""
    fields: dict[str, Any] = to_builtins(endpoint)
    return fields

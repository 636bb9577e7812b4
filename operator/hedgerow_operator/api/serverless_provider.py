"""The ServerlessProvider object: how one serverless GPU service is reached, and what it costs. Times are RFC 3339."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.inference_spec import NameRef
from hedgerow_operator.api.labels import API_VERSION, SERVERLESS_PROVIDER_KIND
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.model import Model, StrictModel, list_keyed_by, to_builtins
from hedgerow_operator.api.provider_types import (
    CerebriumSection,
    HTTPSection,
    KubernetesSection,
    LambdaSection,
    ModalSection,
    PluginSection,
    RunPodSection,
    SimulatedSection,
    VastSection,
)
from hedgerow_operator.api.status import Condition

ProviderType = Literal["RunPod", "Modal", "Vast", "Lambda", "Cerebrium", "HTTP", "Kubernetes", "Simulated", "Plugin"]


class Price(StrictModel, frozen=True, kw_only=True):
    """What a worker costs."""

    per_second_usd: Annotated[
        str, Meta(description='US dollars a second, such as "0.000306".', min_length=1, max_length=20)
    ] = msgspec.field(name="perSecondUSD")
    idle_billed_seconds: Annotated[
        int, Meta(description="How long a worker is billed after its last request.", ge=0, le=3600)
    ] = 0


class ProviderLimits(StrictModel, frozen=True, kw_only=True):
    """Of new attempts, where an account has others than those that the service documents."""

    per_ten_seconds: Annotated[int, Meta(description="In ten seconds.", ge=1, le=1_000_000)] | None = None
    concurrent: Annotated[int, Meta(description="At once.", ge=1, le=1_000_000)] | None = None


class ServerlessProviderSpec(StrictModel, frozen=True, kw_only=True):
    """Which service, as whom, and for how much."""

    type: Annotated[ProviderType, Meta(description="Which service, or how it is asked.")]
    endpoint: (
        Annotated[
            str,
            Meta(
                description="RunPod: id. Vast: name. Modal, Cerebrium, HTTP: URL. Kubernetes: NAME or NAME.NAMESPACE.",
                min_length=1,
                max_length=1024,
            ),
        ]
        | None
    ) = None
    credentials_secret_ref: Annotated[
        NameRef | None,
        Meta(
            description="Secret with apiKey (RunPod, Vast, Cerebrium, HTTP, Kubernetes), tokenId and tokenSecret "
            "(Modal), or apiKey and agentToken (Lambda)."
        ),
    ] = None
    price: Annotated[Price | None, Meta(description="What a worker costs; a budget needs it.")] = None
    limits: Annotated[ProviderLimits | None, Meta(description="Of new attempts.")] = None
    stops_on_disconnect: Annotated[
        bool, Meta(description="With HTTP and Kubernetes: work ends with its connection, as in vLLM and SGLang.")
    ] = False
    runpod: Annotated[RunPodSection | None, Meta(description="With RunPod.")] = None
    modal: Annotated[ModalSection | None, Meta(description="With Modal.")] = None
    vast: Annotated[VastSection | None, Meta(description="With Vast.")] = None
    lambda_: Annotated[LambdaSection | None, Meta(description="With Lambda.")] = msgspec.field(
        default=None, name="lambda"
    )
    cerebrium: Annotated[CerebriumSection | None, Meta(description="With Cerebrium.")] = None
    http: Annotated[HTTPSection | None, Meta(description="With HTTP.")] = None
    kubernetes: Annotated[KubernetesSection | None, Meta(description="With Kubernetes.")] = None
    simulated: Annotated[SimulatedSection | None, Meta(description="With Simulated.")] = None
    plugin: Annotated[PluginSection | None, Meta(description="With Plugin.")] = None


class ServerlessProviderStatus(Model, frozen=True, kw_only=True):
    """What is known of the provider."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(description="State of the provider, one entry a type.", extra_json_schema=list_keyed_by("type")),
    ] = ()
    observed_generation: Annotated[int, Meta(description="Generation of the spec that was last acted on.")] = 0
    state: Annotated[str, Meta(description="The conditions in one word.")] = ""
    reason: Annotated[str, Meta(description="Why, in one word.")] = ""
    warm: Annotated[int | None, Meta(description="Workers that are there, where it shows them.")] = None
    queued: Annotated[int | None, Meta(description="Jobs that wait, where it shows them.")] = None


class ServerlessProvider(Model, frozen=True, kw_only=True):
    """One provider."""

    api_version: str = API_VERSION
    kind: str = SERVERLESS_PROVIDER_KIND
    metadata: ObjectMeta
    spec: ServerlessProviderSpec
    status: ServerlessProviderStatus = ServerlessProviderStatus()


def serverless_provider(fields: dict[str, Any]) -> ServerlessProvider:
    """The ServerlessProvider in a plain dict; ValueError names the field that is wrong."""
    try:
        return msgspec.convert(fields, ServerlessProvider)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def serverless_provider_fields(provider: ServerlessProvider) -> dict[str, Any]:
    """The plain dict of a provider, with the names of the API; what is None is left out."""
    fields: dict[str, Any] = to_builtins(provider)
    return fields

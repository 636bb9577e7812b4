"""What a user writes about an InferenceEndpoint: ``spec``. Money is text, so that no digit is lost."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.api.model import StrictModel, list_keyed_by

MOST_PROVIDERS = 16
MOST_CHECKS = 16

PolicyName = Literal["Adaptive", "Fixed", "QueueCutover", "Cascade", "Race", "None", "Plugin"]
_JMESPATH = 4096
_MILLIS = 3_600_000
_OBJECT_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


class NameRef(StrictModel, frozen=True, kw_only=True):
    """Another object of the same namespace."""

    name: Annotated[str, Meta(description="Its name.", min_length=1, max_length=253, pattern=_OBJECT_NAME)]


class EndpointProvider(StrictModel, frozen=True, kw_only=True):
    """One provider of the endpoint, and how it is asked."""

    name: Annotated[
        str, Meta(description="What the endpoint calls it, such as runpod.", min_length=1, max_length=63, pattern=_NAME)
    ]
    provider_ref: Annotated[NameRef, Meta(description="The ServerlessProvider.")]
    weight: Annotated[
        int,
        Meta(description="Share of the first attempts, beside the others that have one; unset: the order counts.", ge=1,
             le=1000),
    ] | None = None  # fmt: skip
    model: (
        Annotated[str, Meta(description="With OpenAI: what it calls the model.", min_length=1, max_length=256)] | None
    ) = None
    path: Annotated[
        str,
        Meta(description="What it is asked below its address, instead of the client's path.", min_length=1,
             max_length=1024),
    ] | None = None  # fmt: skip
    request: (
        Annotated[
            str,
            Meta(description="JMESPath that makes its request of the client's.", min_length=1, max_length=_JMESPATH),
        ]
        | None
    ) = None
    response: (
        Annotated[
            str,
            Meta(description="JMESPath that makes the client's answer of its.", min_length=1, max_length=_JMESPATH),
        ]
        | None
    ) = None


class HedgeSpec(StrictModel, frozen=True, kw_only=True):
    """When a request gets a second attempt, and where."""

    policy: Annotated[
        PolicyName,
        Meta(
            description="Adaptive learns from what providers show. Fixed waits afterMillis. QueueCutover gives up what "
            "is still queued at cutoverMillis. Cascade adds a third at escalateMillis. Race asks all at once. None "
            "only goes on after a failure. Plugin is a class of yours."
        ),
    ] = "Adaptive"
    after_millis: (
        Annotated[int, Meta(description="With Fixed: when the second attempt starts; unset: 10000.", ge=0, le=_MILLIS)]
        | None
    ) = None
    cutover_millis: Annotated[
        int,
        Meta(description="How long a first attempt may be queued; unset: 2500. With Adaptive: until learned.", ge=0,
             le=_MILLIS),
    ] | None = None  # fmt: skip
    safety_millis: Annotated[
        int,
        Meta(description="How long a first attempt may take; unset: 8500. With Adaptive: until learned.", ge=0,
             le=_MILLIS),
    ] | None = None  # fmt: skip
    escalate_millis: Annotated[
        int,
        Meta(description="How long a second attempt may take; unset: 25000. With Adaptive: until learned.", ge=0,
             le=_MILLIS),
    ] | None = None  # fmt: skip
    plugin: Annotated[
        str,
        Meta(description="With Plugin: name of an entry point in the group hedgerow.policies.", min_length=1,
             max_length=128),
    ] | None = None  # fmt: skip
    max_live: Annotated[int, Meta(description="Attempts of one request that may live at once.", ge=1, le=8)] = 2
    max_extra_load_percent: Annotated[
        int, Meta(description="Attempts beyond the first, of a hundred requests; a few more in a burst.", ge=0, le=700)
    ] = 20


class ServiceObjective(StrictModel, frozen=True, kw_only=True):
    """What the endpoint is meant to keep; it is Degraded while it does not."""

    latency_millis: Annotated[int, Meta(description="An answer is in time until then.", ge=1, le=86_400_000)]
    objective_percent: Annotated[int, Meta(description="Of a hundred answers so many are in time.", ge=1, le=99)] = 99


class AffinitySpec(StrictModel, frozen=True, kw_only=True):
    """Requests of one session prefer the provider that holds its cache."""

    header: Annotated[
        str,
        Meta(description="Header that names the session, such as X-Session.", min_length=1, max_length=128,
             pattern=r"^[A-Za-z0-9-]+$"),
    ]  # fmt: skip
    ttl_seconds: Annotated[int, Meta(description="How long after its last answer.", ge=1, le=86_400)] = 600


class Budget(StrictModel, frozen=True, kw_only=True):
    """What attempts may cost. The worst case of each is held before it is made."""

    hourly_usd: (
        Annotated[str, Meta(description='US dollars an hour, such as "5".', min_length=1, max_length=20)] | None
    ) = msgspec.field(default=None, name="hourlyUSD")
    daily_usd: (
        Annotated[str, Meta(description='US dollars a day, such as "60".', min_length=1, max_length=20)] | None
    ) = msgspec.field(default=None, name="dailyUSD")
    on_exhausted: Annotated[
        Literal["StopHedging", "Reject"],
        Meta(
            description="StopHedging keeps what is left for first attempts. Reject hedges to the end. At zero both "
            "reject."
        ),
    ] = "StopHedging"


class Auth(StrictModel, frozen=True, kw_only=True):
    """Who may ask."""

    api_key_secret_ref: Annotated[
        NameRef,
        Meta(description="Secret each entry of which is the key of one client; several are valid while keys change."),
    ]


class InferenceEndpointSpec(StrictModel, frozen=True, kw_only=True):
    """What clients speak, who is asked, and what is done when an answer is late."""

    protocol: Annotated[
        Literal["Job", "OpenAI", "HTTP"],
        Meta(description="Job: /run, /runsync, /status, /cancel, as RunPod. OpenAI, HTTP: passed on, streams too."),
    ]
    providers: Annotated[
        tuple[EndpointProvider, ...],
        Meta(
            description="Who is asked; the first is preferred.",
            min_length=1,
            max_length=MOST_PROVIDERS,
            extra_json_schema=list_keyed_by("name"),
        ),
    ]
    hedge: Annotated[HedgeSpec, Meta(description="When a request gets a second attempt, and where.")] = HedgeSpec()
    slo: Annotated[ServiceObjective | None, Meta(description="What the endpoint is meant to keep.")] = None
    validate: Annotated[
        tuple[AnswerCheck, ...],
        Meta(description="What an answer must keep to win; all of them.", max_length=MOST_CHECKS),
    ] = ()
    affinity: Annotated[AffinitySpec | None, Meta(description="Sessions that keep their provider.")] = None
    budget: Annotated[Budget | None, Meta(description="What attempts may cost; unset: no limit.")] = None
    auth: Annotated[Auth | None, Meta(description="Who may ask; unset: everybody who reaches the gateway.")] = None
    deadline_seconds: Annotated[
        int, Meta(description="How long a request may take that brings no deadline.", ge=1, le=86_400)
    ] = 600
    max_body_mib: Annotated[
        int,
        Meta(
            description="Requests up to so many MiB are kept for a second attempt; longer ones get one.", ge=1, le=1024
        ),
    ] = msgspec.field(default=20, name="maxBodyMiB")
    max_requests: Annotated[
        int, Meta(description="Requests at once in each gateway; more are told to come again.", ge=1, le=100_000)
    ] = 1000
    result_seconds: (
        Annotated[
            int,
            Meta(description="With Job: how long its result can be asked for; unset: 1800.", ge=60, le=604_800),
        ]
        | None
    ) = None

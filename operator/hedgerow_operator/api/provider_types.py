"""What a ServerlessProvider says besides what all types share: one section for each type that has something to say."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.model import StrictModel

_URL = 1024
_PATH = r"^/"
_MILLIS = 86_400_000
FaultName = Literal["Refuse", "Unauthorized", "Hang", "Die", "Lie", "CancelIgnored", "CancelLost", "Stall", "Cut"]


class RunPodSection(StrictModel, frozen=True, kw_only=True):
    """An endpoint of RunPod."""

    mode: Annotated[Literal["Queue", "LoadBalancer"], Meta(description="Type of the endpoint there.")] = "Queue"
    api_url: Annotated[str, Meta(description="Where jobs are sent; unset: RunPod's own.", max_length=_URL)] | None = (
        msgspec.field(default=None, name="apiURL")
    )
    management_url: (
        Annotated[str, Meta(description="Where endpoints are managed; unset: RunPod's own.", max_length=_URL)] | None
    ) = msgspec.field(default=None, name="managementURL")


class ModalSection(StrictModel, frozen=True, kw_only=True):
    """An app of Modal."""

    mode: Annotated[
        Literal["WebFunction", "Wrapper"],
        Meta(description="WebFunction: any. Wrapper: our wrapper app, whose jobs can be polled and cancelled."),
    ] = "WebFunction"


class VastSection(StrictModel, frozen=True, kw_only=True):
    """A serverless endpoint of Vast.ai."""

    endpoint_id: Annotated[
        Annotated[int, Meta(ge=1, le=1 << 40)] | None,
        Meta(description="Its number, by which health is asked for; unset: it is not."),
    ] = msgspec.field(default=None, name="endpointID")
    path: Annotated[
        str, Meta(description="What its workers are asked, such as /generate.", pattern=_PATH, max_length=_URL)
    ] = "/generate"
    cost: Annotated[int, Meta(description="Load of one request, as its workers count it.", ge=1, le=1_000_000)] = 1
    route_url: (
        Annotated[str, Meta(description="Where a worker is asked for; unset: Vast.ai's own.", max_length=_URL)] | None
    ) = msgspec.field(default=None, name="routeURL")


class CerebriumSection(StrictModel, frozen=True, kw_only=True):
    """An app of Cerebrium; the endpoint is https://api.cerebrium.ai/v4/PROJECT/APP/FUNCTION."""

    rest_url: (
        Annotated[str, Meta(description="Where runs are cancelled; unset: Cerebrium's own.", max_length=_URL)] | None
    ) = msgspec.field(default=None, name="restURL")
    beacon: Annotated[bool, Meta(description="True: the app's code says when its handler begins.")] = False


class LambdaSection(StrictModel, frozen=True, kw_only=True):
    """A pool of virtual machines at Lambda, each with our agent."""

    instance_type: Annotated[str, Meta(description="Such as gpu_1x_a10.", min_length=1, max_length=128)]
    region: Annotated[str, Meta(description="Such as us-west-1.", min_length=1, max_length=128)]
    ssh_key: Annotated[str, Meta(description="Name of the SSH key there.", min_length=1, max_length=128)]
    port: Annotated[int, Meta(description="Where our agent listens.", ge=1, le=65_535)] = 8000
    api_url: (
        Annotated[str, Meta(description="Where machines are launched; unset: Lambda's own.", max_length=_URL)] | None
    ) = msgspec.field(default=None, name="apiURL")


class SubmitCall(StrictModel, frozen=True, kw_only=True):
    """How a job is handed in; the body is the request."""

    method: Annotated[Literal["POST", "PUT"], Meta(description="Method.")] = "POST"
    path: Annotated[str, Meta(description="Below the endpoint.", pattern=_PATH, max_length=_URL)]
    id: Annotated[
        str, Meta(description="Where the job's id is in the answer: a dotted path or JMESPath.", max_length=_URL)
    ] = "id"


class StatusCall(StrictModel, frozen=True, kw_only=True):
    """How a job is asked for."""

    method: Annotated[Literal["GET", "POST"], Meta(description="Method.")] = "GET"
    path: Annotated[str, Meta(description="Below the endpoint, with {id}.", pattern=_PATH, max_length=_URL)]
    state: Annotated[
        str,
        Meta(
            description="Where its state is, a key of states; @status: the status of the HTTP answer.", max_length=_URL
        ),
    ] = "status"
    error: Annotated[str, Meta(description="Where it says why it failed.", max_length=_URL)] = "error"


class ResultCall(StrictModel, frozen=True, kw_only=True):
    """How its result is fetched; none: the status carries it."""

    method: Annotated[Literal["GET", "POST"], Meta(description="Method.")] = "GET"
    path: Annotated[str, Meta(description="Below the endpoint, with {id}.", pattern=_PATH, max_length=_URL)]


class CancelCall(StrictModel, frozen=True, kw_only=True):
    """How it is cancelled; none: it cannot be."""

    method: Annotated[Literal["POST", "PUT", "DELETE"], Meta(description="Method.")] = "POST"
    path: Annotated[str, Meta(description="Below the endpoint, with {id}.", pattern=_PATH, max_length=_URL)]
    ends: Annotated[bool, Meta(description="True: once it is answered well, the work has ended.")] = False


class HTTPSection(StrictModel, frozen=True, kw_only=True):
    """A server that is asked as declared here; without ``submit`` requests are passed on to it as they are."""

    headers: Annotated[
        Annotated[dict[str, Annotated[str, Meta(max_length=8192)]], Meta(max_length=32)] | None,
        Meta(description='Sent along; "Key ${apiKey}" puts in the entry apiKey of the Secret. Unset: a bearer token.'),
    ] = None
    health_path: Annotated[
        Annotated[str, Meta(pattern=_PATH, max_length=_URL)] | None,
        Meta(description="Asked for health; unset: /health, and with submit nothing."),
    ] = None
    submit: Annotated[SubmitCall | None, Meta(description="How a job is handed in.")] = None
    status: Annotated[
        StatusCall | None, Meta(description="How it is asked for; unset: submit answers when all is done.")
    ] = None
    result: Annotated[ResultCall | None, Meta(description="How its result is fetched.")] = None
    cancel: Annotated[CancelCall | None, Meta(description="How it is cancelled.")] = None
    output: Annotated[
        Annotated[str, Meta(max_length=_URL)] | None,
        Meta(description="Where the output is in the last answer; unset: all of it."),
    ] = None
    states: Annotated[
        Annotated[dict[str, Literal["Queued", "Running", "Valid", "Failed", "Cancelled"]], Meta(max_length=64)] | None,
        Meta(description="Its states, such as {IN_QUEUE: Queued, COMPLETED: Valid}."),
    ] = None
    poll_millis: Annotated[
        Annotated[int, Meta(ge=50, le=60_000)] | None,
        Meta(description="Time between two looks; unset: 200 at first, then up to 500."),
    ] = None
    free_in_queue: Annotated[
        bool | None, Meta(description="True: a job cancelled in the queue costs nothing; unset: false.")
    ] = None


class KubernetesSection(StrictModel, frozen=True, kw_only=True):
    """A Service of the same cluster; the endpoint is NAME or NAME.NAMESPACE."""

    port: Annotated[int, Meta(description="Port of the Service.", ge=1, le=65_535)] = 80
    health_path: Annotated[str, Meta(description="Asked for health.", pattern=_PATH, max_length=_URL)] = "/health"


class SimulatedCourse(StrictModel, frozen=True, kw_only=True):
    """How one attempt goes."""

    queue_millis: Annotated[int, Meta(description="Until its worker begins.", ge=0, le=_MILLIS)]
    run_millis: Annotated[int, Meta(description="From then to its answer.", ge=0, le=_MILLIS)]
    valid: Annotated[bool, Meta(description="False: it answers by nothing.")] = True


class SimulatedFault(StrictModel, frozen=True, kw_only=True):
    """Some attempts misbehave."""

    fault: Annotated[FaultName, Meta(description="How.")]
    first: Annotated[int, Meta(description="Attempts from this one on.", ge=1, le=1_000_000)] = 1
    last: Annotated[int, Meta(description="Until this one; unset: to the end.", ge=1, le=1_000_000)] | None = None
    percent: Annotated[int, Meta(description="Of them so many.", ge=1, le=100)] = 100


class SimulatedSection(StrictModel, frozen=True, kw_only=True):
    """No provider at all: takes as long as said here, for trying things."""

    seed: Annotated[int, Meta(description="Another seed draws other times.", ge=0, le=2_000_000_000)] = 0
    cold_percent: Annotated[
        int, Meta(description="Of drawn attempts so many are cold: 9 to 28 s in the queue, 100 s of run.", ge=0, le=100)
    ] = 25
    time_scale: Annotated[int, Meta(description="Everything goes so many times as fast.", ge=1, le=10_000)] = 1
    shows: Annotated[
        Literal["Queue", "Start", "Nothing"],
        Meta(description="What it tells of an attempt: that it waits and begins, that it begins, or nothing."),
    ] = "Queue"
    free_in_queue: Annotated[bool, Meta(description="True: an attempt cancelled in the queue costs nothing.")] = True
    courses: Annotated[
        tuple[SimulatedCourse, ...],
        Meta(description="How attempts go, one after the other and again; none: drawn.", max_length=1000),
    ] = ()
    faults: Annotated[tuple[SimulatedFault, ...], Meta(description="Which misbehave.", max_length=16)] = ()


class PluginSection(StrictModel, frozen=True, kw_only=True):
    """A class of somebody else's."""

    name: Annotated[
        str,
        Meta(description="Name of an entry point in the group hedgerow.providers.", min_length=1, max_length=128),
    ]
    options: Annotated[
        dict[str, str] | None,
        Meta(description="What it is told; text."),
    ] = None

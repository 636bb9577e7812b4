"""Who sends a report: the API server says which pod a token belongs to, and the pod says which worker it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import Struct

from hedgerow.wire import Report
from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.adapters.kube.pods import worker_index
from hedgerow_operator.api.labels import LABEL_JOB_UID, LABEL_PLACEMENT, TOKEN_AUDIENCE
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import Denied

POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"
SERVICE_ACCOUNT = "system:serviceaccount:"

# A token is reviewed again after this long; a wrong one is refused from memory for as long.
FRESH_SECONDS = 60.0
# While the API server cannot be asked, what was believed before stays believed: an outage stops no job.
STALE_SECONDS = 3600.0
MAX_REMEMBERED = 20_000


class Sender(Struct, frozen=True, kw_only=True):
    """The worker that a token belongs to."""

    pod: str
    namespace: str
    job_uid: str
    placement: str
    worker: int


class Memory(Struct, frozen=True, kw_only=True):
    """What was found out about one token, and when. refusal: why it is not believed."""

    asked_at: float
    sender: Sender | None = None
    refusal: str = ""


class TokenReviews:
    """Implements server.auth.Authenticator; tokens are remembered by their hash only. clock: monotonic seconds."""

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self._memories: dict[str, Memory] = {}

    async def check(self, token: str | None, report: Report) -> None:
        if not token:
            raise Denied("the request carries no token")
        memory = await self._memory(token)
        if memory.sender is None:
            raise Denied(memory.refusal)
        _compare(memory.sender, report)

    async def _memory(self, token: str) -> Memory:
        key = hashlib.sha256(token.encode()).hexdigest()
        known = self._memories.get(key)
        age = float("inf") if known is None else self._clock() - known.asked_at
        if known is not None and age < FRESH_SECONDS:
            return known
        try:
            found = await self._ask(token)
        except Unreachable:
            if known is not None and known.sender is not None and age < STALE_SECONDS:
                return known
            raise
        self._remember(key, found)
        return found

    def _remember(self, key: str, found: Memory) -> None:
        self._memories.pop(key, None)
        while len(self._memories) >= MAX_REMEMBERED:
            del self._memories[next(iter(self._memories))]
        self._memories[key] = found

    async def _ask(self, token: str) -> Memory:
        asked_at = self._clock()
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [TOKEN_AUDIENCE]},
        }
        try:
            reviewed = await self._api.create(paths.TOKEN_REVIEWS, review)
            return await self._look_up(reviewed.get("status") or {}, asked_at)
        except Rejected as error:
            raise Unreachable(f"the operator may not check tokens: {error}") from error

    async def _look_up(self, status: Fields, asked_at: float) -> Memory:
        # Nothing that the API server says of a token is passed on: it may quote it.
        if not status.get("authenticated") or TOKEN_AUDIENCE not in (status.get("audiences") or []):
            why = (
                f"the API server does not accept the token (has it expired, or another audience than {TOKEN_AUDIENCE}?)"
            )
            return Memory(asked_at=asked_at, refusal=why)
        user = status.get("user") or {}
        extra = user.get("extra") or {}
        name, uid = _only(extra.get(POD_NAME)), _only(extra.get(POD_UID))
        account = str(user.get("username") or "")
        if not (name and uid and account.startswith(SERVICE_ACCOUNT)):
            return Memory(asked_at=asked_at, refusal="the token is not bound to a pod")
        namespace = account.removeprefix(SERVICE_ACCOUNT).partition(":")[0]
        pod = await self._api.find(f"{paths.pods(namespace)}/{name}")
        if pod is None or pod["metadata"]["uid"] != uid:
            return Memory(asked_at=asked_at, refusal=f"pod {namespace}/{name} of the token exists no more")
        return Memory(asked_at=asked_at, sender=_sender(namespace, pod))


def _sender(namespace: str, pod: Fields) -> Sender:
    labels = pod["metadata"].get("labels") or {}
    return Sender(
        pod=pod["metadata"]["name"],
        namespace=namespace,
        job_uid=labels.get(LABEL_JOB_UID, ""),
        placement=labels.get(LABEL_PLACEMENT, ""),
        worker=worker_index(pod),
    )


def _compare(sender: Sender, report: Report) -> None:
    """Raises Denied unless the report is about the worker that the sender is."""
    said = (report.job.namespace, report.job.uid, str(report.placement), report.worker)
    if said != (sender.namespace, sender.job_uid, sender.placement, sender.worker):
        raise Denied(
            f"pod {sender.namespace}/{sender.pod} may report for itself only, not for worker {report.worker} of "
            f"placement {report.placement} of job {report.job.namespace[:253]}/{report.job.name[:253]}",
            identified=True,
        )


def _only(values: list[str] | None) -> str:
    return values[0] if values and len(values) == 1 else ""

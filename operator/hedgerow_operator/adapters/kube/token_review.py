"""Who sends a report: the API server says which pod a token is of, and the pod says which worker or agent it is."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable

from msgspec import Struct

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.adapters.kube.pods import worker_index
from hedgerow_operator.api.labels import LABEL_JOB_UID, LABEL_PLACEMENT, TOKEN_AUDIENCE
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import AgentClaim, Denied, LauncherClaim

POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"
SERVICE_ACCOUNT = "system:serviceaccount:"

# A token is reviewed again after this long; a wrong one is refused from memory for as long. The API server then hears
# of each of 25 000 senders every five minutes: some 80 reviews a second.
FRESH_SECONDS = 300.0
# One that was believed goes on being believed while it is reviewed again, for so long; reports do not wait for that.
RENEWED_SECONDS = 600.0
# So long after a call failed, reports of those who were believed do not wait for the next one to fail.
AWAY_SECONDS = 30.0
# While the API server cannot be asked, what was believed before stays believed: an outage stops no job.
STALE_SECONDS = 3600.0
# Ten thousand nodes with an agent and a launcher each, and some more. Refused ones apart: strangers displace nobody.
MAX_BELIEVED, MAX_REFUSED = 100_000, 10_000
# Requests at a time: the API server has others to serve.
MAX_ASKING = 16


class Sender(Struct, frozen=True, kw_only=True):
    """The pod that a token belongs to. account: its service account, as namespace/name. node: where it runs.

    job_uid, placement, worker: which worker it is, if it is one.
    """

    pod: str
    namespace: str
    account: str
    node: str
    job_uid: str
    placement: str
    worker: int


class Memory(Struct, frozen=True, kw_only=True):
    """What was found out about one token, and when. refusal: why it is not believed."""

    asked_at: float
    sender: Sender | None = None
    refusal: str = ""


class Reviews:
    """Which pod a token belongs to; tokens are remembered by their hash only. clock: monotonic seconds."""

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self._believed: dict[bytes, Memory] = {}
        self._refused: dict[bytes, Memory] = {}
        self._asking: dict[bytes, asyncio.Task[Memory]] = {}
        self._failed_at = float("-inf")
        self._turns = asyncio.Semaphore(MAX_ASKING)

    def recall(self, token: str) -> Sender | None:
        """The pod, as far as that is known; None: it has to be asked for. Raises Denied."""
        key = _key(token)
        known = self._believed.get(key)
        if known is not None:
            age = self._clock() - known.asked_at
            away = self._clock() - self._failed_at < AWAY_SECONDS
            if age >= (STALE_SECONDS if away else RENEWED_SECONDS):
                return None
            if age >= FRESH_SECONDS and len(self._asking) < MAX_ASKING:
                self._begin(key, token)
            return known.sender
        refused = self._refused.get(key)
        if refused is not None and self._clock() - refused.asked_at < FRESH_SECONDS:
            raise Denied(refused.refusal)
        return None

    async def sender(self, token: str | None) -> Sender:
        """The pod, asked for where it is not known. Raises Denied, Unreachable."""
        if not token:
            raise Denied("the request carries no token")
        known = self.recall(token)
        if known is not None:
            return known
        key = _key(token)
        before = self._believed.get(key)
        try:
            # Another report may wait for the same: whoever leaves does not end it.
            found = await asyncio.shield(self._begin(key, token))
        except Unreachable:
            if before is not None and before.sender is not None and self._clock() - before.asked_at < STALE_SECONDS:
                return before.sender
            raise
        if found.sender is None:
            raise Denied(found.refusal)
        return found.sender

    def _begin(self, key: bytes, token: str) -> asyncio.Task[Memory]:
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.get_running_loop().create_task(self._review(key, token))
            task.add_done_callback(lambda done: self._end(key, done))
        return task

    def _end(self, key: bytes, task: asyncio.Task[Memory]) -> None:
        del self._asking[key]
        if not task.cancelled():
            task.exception()  # whoever waits has it; a renewal that failed is tried again with the next report

    async def _review(self, key: bytes, token: str) -> Memory:
        async with self._turns:
            try:
                found = await self._ask(token)
            except Unreachable:
                self._failed_at = self._clock()
                raise
        self._believed.pop(key, None)
        self._refused.pop(key, None)
        memories, most = (self._refused, MAX_REFUSED) if found.sender is None else (self._believed, MAX_BELIEVED)
        while len(memories) >= most:
            del memories[next(iter(memories))]
        memories[key] = found
        return found

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
        return Memory(asked_at=asked_at, sender=_sender(namespace, account.removeprefix(SERVICE_ACCOUNT), pod))


class TokenReviews:
    """Implements server.auth.Authenticator for launchers: a pod may report for the worker that it is."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        _compare(await self._reviews.sender(token), claim)

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        sender = self._reviews.recall(token)
        if sender is not None:
            _compare(sender, claim)
        return sender is not None


class AgentReviews:
    """Implements server.auth.Authenticator for agents: a pod of the agents' service account may report for its node.

    account: namespace/name of the service account that the DaemonSet of the agents runs under.
    """

    def __init__(self, reviews: Reviews, account: str) -> None:
        self._reviews = reviews
        self._account = account

    async def check(self, token: str | None, claim: AgentClaim) -> None:
        self._compare(await self._reviews.sender(token), claim)

    def recall(self, token: str, claim: AgentClaim) -> bool:
        sender = self._reviews.recall(token)
        if sender is not None:
            self._compare(sender, claim)
        return sender is not None

    def _compare(self, sender: Sender, claim: AgentClaim) -> None:
        pod = f"pod {sender.namespace}/{sender.pod}"
        if sender.account != self._account:
            raise Denied(
                f"{pod} is no node agent: those run under the service account {self._account}", identified=True
            )
        if not sender.node or sender.node != claim.node:
            raise Denied(
                f"{pod} runs on node {sender.node or '(none yet)'} and may not report for {claim.node[:253]}",
                identified=True,
            )


def _key(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _sender(namespace: str, account: str, pod: Fields) -> Sender:
    labels = pod["metadata"].get("labels") or {}
    return Sender(
        pod=pod["metadata"]["name"],
        namespace=namespace,
        account=account.replace(":", "/"),
        node=(pod.get("spec") or {}).get("nodeName") or "",
        job_uid=labels.get(LABEL_JOB_UID, ""),
        placement=labels.get(LABEL_PLACEMENT, ""),
        worker=worker_index(pod),
    )


def _compare(sender: Sender, claim: LauncherClaim) -> None:
    """Raises Denied unless the report is about the worker that the sender is."""
    said = (claim.job.namespace, claim.job.uid, str(claim.placement), claim.worker)
    if said != (sender.namespace, sender.job_uid, sender.placement, sender.worker):
        raise Denied(
            f"pod {sender.namespace}/{sender.pod} may report for itself only, not for worker {claim.worker} of "
            f"placement {claim.placement} of job {claim.job.namespace[:253]}/{claim.job.name[:253]}",
            identified=True,
        )


def _only(values: list[str] | None) -> str:
    return values[0] if values and len(values) == 1 else ""

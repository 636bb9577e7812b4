"""What is kept of gateways at an InferenceEndpoint, which of them are gone, and who may report as one."""

from __future__ import annotations

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.endpoints import KubeEndpoints
from hedgerow_operator.adapters.kube.token_review import Reviews
from hedgerow_operator.api.inference_endpoint import inference_endpoint
from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.api.labels import ANNOTATION_BUDGET_LEASES
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import Denied


class KubeBooks:
    """Implements reconcile.gateways.Books."""

    def __init__(self, api: Api, objects: KubeEndpoints) -> None:
        self._api, self._objects = api, objects

    async def load(self, endpoint: str) -> tuple[str, Budget | None]:
        """See Books."""
        namespace, _, name = endpoint.partition("/")
        try:
            fields = await self._api.find(paths.inference_endpoint(namespace, name))
        except Rejected as error:
            raise Unreachable(f"InferenceEndpoint {endpoint} cannot be read: {error}") from error
        if fields is None:
            return "", None
        found = inference_endpoint(fields)
        return found.metadata.annotations.get(ANNOTATION_BUDGET_LEASES, ""), found.spec.budget

    async def keep(self, endpoint: str, book: str) -> None:
        """See Books."""
        namespace, _, name = endpoint.partition("/")
        await self._objects.annotate(namespace, name, ANNOTATION_BUDGET_LEASES, book)


class GatewayPods:
    """Implements reconcile.gateways.Pods. namespace: where the gateways run."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    async def gone(self, gateway: str) -> bool:
        """See Pods."""
        try:
            return await self._api.find(f"{paths.pods(self._namespace)}/{gateway}") is None
        except Rejected as error:
            raise Unreachable(f"pod {self._namespace}/{gateway} cannot be read: {error}") from error


class GatewayReviews:
    """account: namespace/name of the service account that the gateways run under."""

    def __init__(self, reviews: Reviews, account: str) -> None:
        self._reviews, self._account = reviews, account

    async def check(self, token: str | None, gateway: str) -> None:
        """A pod of that account may report as itself. Raises Denied, Unreachable."""
        sender = await self._reviews.sender(token)
        if sender.account != self._account:
            told = f"pod {sender.namespace}/{sender.pod} is no gateway: those run under {self._account}"
            raise Denied(told, identified=True)
        if sender.pod != gateway:
            raise Denied(f"pod {sender.pod} may not report as {gateway[:253]}", identified=True)

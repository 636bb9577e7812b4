"""Questions to the API server that change nothing: whether it would take an object, what a user may do, what exists."""

from __future__ import annotations

from hedgerow_operator.adapters.kube.api import Api, Fields

ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_APPLY_PATCH = "application/apply-patch+yaml"
_MANAGER = "hedgerow-check"
# Nothing is stored, and what the server would silently leave out is refused.
_TRIAL = {"dryRun": "All", "fieldManager": _MANAGER, "fieldValidation": "Strict"}
# A Secret's content stays where it is.
_METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


class Inquiry(Api):
    """The API server, asked. Every method may raise Unreachable and Rejected, as those of Api."""

    async def would_apply(self, path: str, body: Fields) -> Fields:
        """The object as a server-side apply would leave it; Rejected with what the server has against it."""
        query = {**_TRIAL, "force": "true"}
        return await self._call("PATCH", path, body=body, query=query, content_type=_APPLY_PATCH)

    async def would_create(self, path: str, body: Fields) -> Fields:
        """The object as it would be created, admission included; Rejected with what the server has against it."""
        return await self._call("POST", path, body=body, query=_TRIAL)

    async def may(self, namespace: str, verb: str, group: str, resource: str) -> bool:
        """Whether whoever asks may do this; ``resource`` may have a subresource, as in pods/log."""
        name, _, subresource = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": name, "namespace": namespace}
        if subresource:
            attributes["subresource"] = subresource
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        answer = await self._call("POST", ACCESS_REVIEWS, body=review)
        return bool((answer.get("status") or {}).get("allowed"))

    async def metadata(self, path: str) -> Fields:
        """The metadata of the object at ``path``, and nothing else of it."""
        answer = await self._call("GET", path, accept=_METADATA_ONLY)
        found: Fields = answer.get("metadata") or {}
        return found

"""One job at the cluster that is asked, and how answers that are none become findings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.cli.check_parts.finding import WARNING, Finding
from hedgerow_operator.reconcile.ports import Unreachable

Fields = Mapping[str, Any]
FORBIDDEN = 403
NOT_FOUND = 404


@dataclass(frozen=True)
class Site:
    """ask: the API server. job: in its namespace. fields: as the user wrote it. beside: objects of the same files.

    injection: as the installed operator does it, or as it is supposed.
    """

    ask: Inquiry
    job: TrainingJob
    fields: Fields
    beside: Sequence[Fields]
    injection: Injection

    @property
    def namespace(self) -> str:
        """Where the job would be."""
        return self.job.metadata.namespace

    @property
    def template(self) -> Fields:
        """The pod template as the user wrote it."""
        assert self.job.spec.kubernetes is not None
        return self.job.spec.kubernetes.template

    def is_beside(self, kind: str, name: str) -> bool:
        """Whether the manifests bring this object along."""
        return any(
            other.get("kind") == kind and (other.get("metadata") or {}).get("name") == name for other in self.beside
        )


Check = Callable[[Site], Awaitable[list[Finding]]]


async def looked(topic: str, check: Check, site: Site) -> list[Finding]:
    """The findings of a check; that it could not look is one too, and never an error."""
    try:
        return await check(site)
    except Rejected as error:
        reason = "you may not see it" if error.status == FORBIDDEN else "the API server refused to say"
        return [Finding(WARNING, topic, f"could not be looked at, {reason}: {error}")]
    except Unreachable as error:
        return [Finding(WARNING, topic, f"could not be looked at: {error}")]

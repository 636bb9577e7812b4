"""Placements on Kubernetes: each is an Indexed Job and its pods."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.adapters.kube.observe import (
    Found,
    missing_workers,
    node_name,
    placement_seen,
    sort_by_placement,
)
from hedgerow_operator.api.labels import LABEL_JOB_UID, LABEL_PLACEMENT, placement_name
from hedgerow_operator.api.pod_template import read_pods
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.build.placement import placement_job
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.reconcile.ports import Refused, Unreachable


class KubeRuntime:
    """Implements reconcile.ports.Runtime. clock: wall time, seconds since the epoch."""

    fences_by_time = True

    def __init__(self, api: Api, nodes: Nodes, injection: Injection, clock: Callable[[], float]) -> None:
        self._api = api
        self._nodes = nodes
        self._injection = injection
        self._clock = clock

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        assert job.spec.kubernetes is not None
        listed = await self._find(job, f"{LABEL_JOB_UID}={job.metadata.uid}")
        found = [await self._explained(entry) for entry in listed]
        facts = await self._nodes.facts(node_name(pod) for entry in found for pod in entry.pods if node_name(pod))
        wrapped = read_pods(job.spec.kubernetes).wrapped_name
        now = self._clock()
        return tuple(placement_seen(entry, wrapped, facts, now) for entry in found)

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        manifest = placement_job(job, attempt, excluded_nodes, self._injection)
        try:
            await self._api.create(paths.jobs(job.metadata.namespace), manifest)
        except Rejected as error:
            if error.reason != "AlreadyExists":
                raise _refusal(job, attempt, error) from error
            await self._check_ours(job, attempt)

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        selector = f"{LABEL_JOB_UID}={job.metadata.uid},{LABEL_PLACEMENT}={attempt}"
        for found in await self._find(job, selector):
            await self._remove_jobs(found)
            await self._remove_pods(found, force)

    async def _find(self, job: TrainingJob, selector: str) -> tuple[Found, ...]:
        """Jobs are listed before pods: where no Job was left, no new pod can have come after the list of pods."""
        namespace = job.metadata.namespace
        try:
            jobs = await self._api.list(paths.jobs(namespace), selector)
            pods = await self._api.list(paths.pods(namespace), selector)
        except Rejected as error:
            raise Unreachable(f"Jobs and pods of namespace {namespace} cannot be listed: {error}") from error
        return sort_by_placement(jobs, pods)

    async def _explained(self, found: Found) -> Found:
        """With the Job controller's last word on why pods are missing: a full quota, Pod Security, an admission."""
        if not missing_workers(found):
            return found
        metadata = found.jobs[0]["metadata"]
        wanted = f"involvedObject.uid={metadata['uid']},reason=FailedCreate"
        try:
            events = await self._api.list(paths.events(metadata["namespace"]), fields=wanted)
        except Rejected:
            return found
        newest = max(events, key=lambda event: event.get("lastTimestamp") or "", default={})
        return msgspec.structs.replace(found, blocked=newest.get("message") or "")

    async def _check_ours(self, job: TrainingJob, attempt: int) -> None:
        name = placement_name(job.metadata.name, attempt)
        existing = await self._api.find(f"{paths.jobs(job.metadata.namespace)}/{name}")
        if existing is None:
            raise Unreachable(f"Job {name} was there and is not any more; looking again")
        owner = (existing["metadata"].get("labels") or {}).get(LABEL_JOB_UID)
        if owner != job.metadata.uid:
            raise Refused(
                f"Job {name} in namespace {job.metadata.namespace} exists and belongs to something else; "
                "delete it, or give the TrainingJob another name"
            )

    async def _remove_jobs(self, found: Found) -> None:
        # Foreground: the Job stays, and starts no pod any more, until its last pod is gone.
        for job in found.jobs:
            if "deletionTimestamp" not in job["metadata"]:
                await self._api.delete(_path(paths.jobs, job), uid=job["metadata"]["uid"], propagation="Foreground")

    async def _remove_pods(self, found: Found, force: tuple[str, ...]) -> None:
        """Pods go with their Job by themselves; those without one, and those to be forced, are deleted here."""
        for pod in found.pods:
            metadata = pod["metadata"]
            if metadata["name"] in force:
                await self._api.delete(_path(paths.pods, pod), uid=metadata["uid"], grace_seconds=0)
            elif not found.jobs and "deletionTimestamp" not in metadata:
                await self._api.delete(_path(paths.pods, pod), uid=metadata["uid"])


def _path(collection: Callable[[str], str], entry: Fields) -> str:
    return f"{collection(entry['metadata']['namespace'])}/{entry['metadata']['name']}"


def _refusal(job: TrainingJob, attempt: int, error: Rejected) -> Exception:
    """What is wrong with the manifest stays wrong; a missing right, a full quota or a closing namespace may pass."""
    name = placement_name(job.metadata.name, attempt)
    sentence = f"the Kubernetes API server does not take Job {name}: {error}"
    return Refused(sentence) if error.status in (400, 413, 422) else Unreachable(sentence)

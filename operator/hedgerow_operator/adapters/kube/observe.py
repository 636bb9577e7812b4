"""Jobs and pods as frozen structs: what of each placement still exists, and how its workers are. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from hedgerow_operator.adapters.kube.nodes import FINE, NodeFacts
from hedgerow_operator.adapters.kube.pods import worker_index, worker_seen
from hedgerow_operator.api.labels import ANNOTATION_AVOIDED_NODES, LABEL_PLACEMENT
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.build.environment import REPORT_URL
from hedgerow_operator.core.seen import WORKER_PENDING, PlacementSeen, WorkerSeen

Fields = dict[str, Any]

# Kubernetes sets FailureTarget and SuccessCriteriaMet at once; Failed and Complete wait until the last pod has stopped.
OUTCOMES = {
    "FailureTarget": "Failed",
    "Failed": "Failed",
    "SuccessCriteriaMet": "Succeeded",
    "Complete": "Succeeded",
}


class Found(Struct, frozen=True, kw_only=True):
    """What is left of one placement: its Jobs (one, unless somebody copied it) and pods.

    blocked: why the Job controller cannot make the pods that are missing, in its own words; empty: it does not say.
    """

    attempt: int
    jobs: tuple[Fields, ...] = ()
    pods: tuple[Fields, ...] = ()
    blocked: str = ""


def sort_by_placement(jobs: Iterable[Fields], pods: Iterable[Fields]) -> tuple[Found, ...]:
    """What was listed, by placement, oldest first. What names no placement is not ours."""
    owners = _by_placement(jobs)
    workers = _by_placement(pods)
    return tuple(
        Found(attempt=attempt, jobs=tuple(owners.get(attempt, ())), pods=tuple(workers.get(attempt, ())))
        for attempt in sorted({*owners, *workers})
    )


def placement_seen(found: Found, wrapped: str, nodes: Mapping[str, NodeFacts], now: float) -> PlacementSeen:
    """``wrapped``: name of the container with the launcher; ``now``: seconds since the epoch."""
    job = found.jobs[0] if found.jobs else None
    ended, reason = ("", "") if job is None else _ended(job)
    created = min(_created(entry) for entry in (*found.jobs, *found.pods))
    workers = [worker_seen(pod, wrapped, nodes.get(node_name(pod), FINE), now) for pod in found.pods]
    if found.blocked:
        waiting = f"cannot be created: {found.blocked}"
        workers += [
            WorkerSeen(index=index, name="", phase=WORKER_PENDING, waiting=waiting) for index in missing_workers(found)
        ]
    return PlacementSeen(
        attempt=found.attempt,
        workers=tuple(sorted(workers, key=lambda worker: (worker.index, worker.name))),
        removing=job is None or "deletionTimestamp" in job["metadata"],
        ended=ended,
        ended_reason=reason,
        age_seconds=max(0.0, now - created),
        report_url=_report_url(job or {}, wrapped),
        avoided=_avoided(job or {}),
    )


def _avoided(job: dict[str, Any]) -> tuple[str, ...]:
    annotations = job.get("metadata", {}).get("annotations") or {}
    return tuple(filter(None, annotations.get(ANNOTATION_AVOIDED_NODES, "").split(",")))


def missing_workers(found: Found) -> list[int]:
    """Indexes without a pod that the Job controller should have made by now; none once the Job ends or goes."""
    if not found.jobs or "deletionTimestamp" in found.jobs[0]["metadata"] or _ended(found.jobs[0])[0]:
        return []
    made = {worker_index(pod) for pod in found.pods}
    return [index for index in range(found.jobs[0]["spec"]["completions"]) if index not in made]


def node_name(pod: Fields) -> str:
    """Name of the node that the pod is bound to; empty while there is none."""
    return (pod.get("spec") or {}).get("nodeName") or ""


def _by_placement(objects: Iterable[Fields]) -> dict[int, list[Fields]]:
    sorted_out: dict[int, list[Fields]] = {}
    for entry in objects:
        label = (entry["metadata"].get("labels") or {}).get(LABEL_PLACEMENT, "")
        if label.isdecimal():
            sorted_out.setdefault(int(label), []).append(entry)
    return sorted_out


def _ended(job: Fields) -> tuple[str, str]:
    for condition in (job.get("status") or {}).get("conditions") or []:
        outcome = OUTCOMES.get(condition.get("type"))
        if outcome and condition.get("status") == "True":
            words = (condition.get("reason"), condition.get("message"))
            return outcome, ": ".join(word for word in words if word)
    return "", ""


def _report_url(job: Fields, wrapped: str) -> str:
    template = (job.get("spec") or {}).get("template") or {"spec": {"containers": []}}
    environments = (entry.get("env") or () for entry in template["spec"]["containers"] if entry["name"] == wrapped)
    return next((entry["value"] for env in environments for entry in env if entry["name"] == REPORT_URL), "")


def _created(entry: Fields) -> float:
    return parse_time(entry["metadata"]["creationTimestamp"])

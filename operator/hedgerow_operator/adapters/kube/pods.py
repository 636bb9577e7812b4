"""One pod as one worker. Pure."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.adapters.kube.nodes import NodeFacts
from hedgerow_operator.api.labels import LABEL_WORKER_INDEX
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.last_words import last_words
from hedgerow_operator.core.seen import (
    WORKER_FAILED,
    WORKER_PENDING,
    WORKER_RUNNING,
    WORKER_SUCCEEDED,
    WORKER_UNKNOWN,
    WorkerSeen,
)

Fields = dict[str, Any]

POD_PHASES = {"Succeeded": WORKER_SUCCEEDED, "Failed": WORKER_FAILED, "Unknown": WORKER_UNKNOWN}
# While these are the reason a container waits, the node is at work (it pulls images, mounts volumes, runs init
# containers); any other reason is trouble.
AT_WORK = frozenset({"", "ContainerCreating", "PodInitializing", "Pulling"})


def worker_seen(pod: Fields, wrapped: str, node: NodeFacts, now: float) -> WorkerSeen:
    """``wrapped``: name of the container with the launcher, which alone decides how the worker is; ``now``: epoch."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    state = _state(status, wrapped)
    trouble = _trouble(status)
    phase = _phase(status, state)
    name = (pod.get("spec") or {}).get("nodeName") or ""
    ended = state.get("terminated") or {}
    return WorkerSeen(
        index=worker_index(pod),
        name=metadata["name"],
        phase=phase,
        node=name,
        address=status.get("podIP") or "",
        unschedulable=_unschedulable(status),
        pulling=bool(name) and phase == WORKER_PENDING and not trouble,
        waiting=trouble,
        terminating="deletionTimestamp" in metadata,
        disrupted=_condition(status, "DisruptionTarget").get("status") == "True",
        node_silent=node.silent,
        node_gone=node.gone,
        running_seconds=_running_seconds(state, now),
        exit_code=ended.get("exitCode"),
        exit_reason=_exit_reason(ended, status) if phase == WORKER_FAILED else "",
        last_words=last_words(ended.get("message") or "") if phase == WORKER_FAILED else "",
        beside=bool(ended) and any("running" in (entry.get("state") or {}) for entry in _containers(status)),
    )


def worker_index(pod: Fields) -> int:
    """Completion index of the pod; -1 when it has none, so that it stays visible."""
    metadata = pod["metadata"]
    for place in ("labels", "annotations"):
        text = (metadata.get(place) or {}).get(LABEL_WORKER_INDEX, "")
        if text.isdecimal():
            return int(text)
    return -1


def _phase(status: Fields, state: Fields) -> str:
    """The wrapped container's own end counts, whatever the containers beside it still do."""
    if "terminated" in state:
        return WORKER_SUCCEEDED if state["terminated"].get("exitCode") == 0 else WORKER_FAILED
    by_pod = POD_PHASES.get(status.get("phase") or "")
    if by_pod is not None:
        return by_pod
    return WORKER_RUNNING if "running" in state else WORKER_PENDING


def _state(status: Fields, wrapped: str) -> Fields:
    return next((entry.get("state") or {} for entry in _containers(status) if entry.get("name") == wrapped), {})


def _containers(status: Fields) -> list[Fields]:
    """Restartable init containers are not among them: Kubernetes itself ends those after the last one here."""
    return status.get("containerStatuses") or []


def _condition(status: Fields, kind: str) -> Fields:
    return next((entry for entry in status.get("conditions") or [] if entry.get("type") == kind), {})


def _unschedulable(status: Fields) -> str:
    scheduled = _condition(status, "PodScheduled")
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return scheduled.get("message") or "no node takes it"
    return ""


def _trouble(status: Fields) -> str:
    """Why a container of the pod does not start; empty while nothing is wrong."""
    for entry in [*(status.get("initContainerStatuses") or []), *_containers(status)]:
        waiting = (entry.get("state") or {}).get("waiting") or {}
        if (waiting.get("reason") or "") not in AT_WORK:
            words = (f"container {entry.get('name')}", waiting["reason"], waiting.get("message"))
            return ": ".join(word for word in words if word)
    return ""


def _running_seconds(state: Fields, now: float) -> float | None:
    started = (state.get("running") or {}).get("startedAt")
    return None if started is None else max(0.0, now - parse_time(started))


def _exit_reason(ended: Fields, status: Fields) -> str:
    """The container's own reason (OOMKilled, Error …), else that of a failed init container, else the pod's."""
    if ended.get("reason"):
        return str(ended["reason"])
    for entry in status.get("initContainerStatuses") or []:
        stopped = (entry.get("state") or {}).get("terminated") or {}
        if stopped.get("exitCode"):
            reason = stopped.get("reason") or "Error"
            said = last_words(stopped.get("message") or "")
            how = f"init container {entry.get('name')} ended with exit code {stopped['exitCode']} ({reason})"
            return f"{how}; it said last: {said}" if said else how
    return ": ".join(word for word in (status.get("reason"), status.get("message")) if word)

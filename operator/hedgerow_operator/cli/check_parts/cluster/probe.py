"""One small pod that tries the report URL from where the workers would be, and is deleted whatever happens."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.labels import GROUP
from hedgerow_operator.build.injection import LAUNCHER_IN_IMAGE, init_container
from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import PodView, nested, objects
from hedgerow_operator.reconcile.ports import Unreachable

_error, _warning, _fine = about("probe")

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.5
# Should nobody be left to delete it, it ends by itself.
LIFE_SECONDS = 90
TRY_SECONDS = 10
LABEL = f"{GROUP}/check"
# What decides where a pod runs and what its network lets through; NetworkPolicies go by labels too.
_OF_THE_WORKERS = (
    "hostNetwork", "hostAliases", "dnsPolicy", "dnsConfig", "nodeSelector", "tolerations", "affinity", "nodeName",
    "imagePullSecrets", "serviceAccountName", "runtimeClassName", "schedulerName", "priorityClassName",
)  # fmt: skip
# With the launcher's own way of asking, past every proxy. What it prints last is what the pod's status carries.
_TRY = """
import http.client, sys
sys.path.insert(0, sys.argv[1])
from hedgerow.http_exchange import Exchange, Refused
try:
    Exchange(sys.argv[2]).request("GET", "/healthz", None, "", float(sys.argv[3]))
except Refused as error:
    sys.exit("it answers with %s" % error)
except (OSError, ValueError, http.client.HTTPException) as error:
    sys.exit(str(error) or type(error).__name__)
"""


async def findings(site: Site) -> list[Finding]:
    """Whether the report URL is reached from a pod."""
    url = site.injection.report_url
    name = f"hedgerow-check-{secrets.token_hex(4)}"
    # In tasks of their own: whoever has had enough of waiting leaves no pod behind.
    creation = asyncio.ensure_future(site.ask.create(paths.pods(site.namespace), probe_pod(site, name)))
    try:
        ended = await _ended(site.ask, await asyncio.shield(creation))
    except Rejected as error:
        return [_warning(f"the pod that tries {url} could not be run: {error}")]
    finally:
        await asyncio.shield(_clean_up(site, name, creation))
    return [_told(url, ended)]


def probe_pod(site: Site, name: str) -> dict[str, Any]:
    """The pod: the init container's image and rights, the workers' place and network."""
    spec = PodView.of(site.job.spec).spec
    container = init_container(site.injection)
    python, archive = f"{LAUNCHER_IN_IMAGE}/python", f"{LAUNCHER_IN_IMAGE}/hedgerow.pyz"
    program = [f"{python}/loader", "--inhibit-cache", "--library-path", f"{python}/lib", f"{python}/bin/python3"]
    container |= {
        "name": "probe",
        "command": [*program, "-I", "-S", "-c", _TRY, archive, site.injection.report_url, str(TRY_SECONDS)],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [],
    }
    kept = {name: spec[name] for name in _OF_THE_WORKERS if spec.get(name) is not None}
    metadata = site.template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": site.namespace,
            "labels": {**(metadata.get("labels") or {}), LABEL: "probe"},
        },
        "spec": {
            **kept,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": LIFE_SECONDS,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "containers": [container],
        },
    }


async def _ended(ask: Inquiry, created: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pod once it has ended, or as it is when the time is over."""
    path = _path(created)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            pod = await ask.get(path)
        except Unreachable:
            pod = dict(created)
        if nested(pod, "status", "phase") in ("Succeeded", "Failed") or time.monotonic() > deadline:
            return pod
        await asyncio.sleep(POLL_SECONDS)


async def _clean_up(site: Site, name: str, creation: asyncio.Future[dict[str, Any]]) -> None:
    """Delete the pod, also one of which no answer came; tried again, since nobody else will."""
    await asyncio.wait({creation})
    path = f"{paths.pods(site.namespace)}/{name}"
    for attempt in range(3):
        try:
            pod = await site.ask.find(path)
            if pod is not None:
                await site.ask.delete(path, uid=pod["metadata"]["uid"], grace_seconds=0)
            return
        except Unreachable:
            await asyncio.sleep(attempt)


def _told(url: str, pod: Mapping[str, Any]) -> Finding:
    phase = nested(pod, "status", "phase")
    if phase == "Succeeded":
        return _fine(f"a pod on {nested(pod, 'spec', 'nodeName')} reached {url}")
    statuses = objects(pod.get("status") or {}, "containerStatuses")
    if phase == "Failed":
        said = next((nested(status, "state", "terminated", "message") for status in statuses), None)
        why = (said or nested(pod, "status", "message") or "it ended without a word").strip()
        return _error(
            f"a pod on {nested(pod, 'spec', 'nodeName')} could not reach {url}: {why}; does a NetworkPolicy hold it, "
            "or is the address another one?"
        )
    return _warning(f"the pod that tries {url} had not ended after {WAIT_SECONDS:.0f} s: {_why_not(pod, statuses)}")


def _why_not(pod: Mapping[str, Any], statuses: list[Mapping[str, Any]]) -> str:
    for status in statuses:
        waiting = nested(status, "state", "waiting")
        if waiting:
            return f"{waiting.get('reason')}: {waiting.get('message', '')}".rstrip(": ")
    for condition in objects(pod.get("status") or {}, "conditions"):
        if condition.get("status") == "False" and condition.get("message"):
            return str(condition["message"])
    return "it says no reason"


def _path(pod: Mapping[str, Any]) -> str:
    return f"{paths.pods(pod['metadata']['namespace'])}/{pod['metadata']['name']}"

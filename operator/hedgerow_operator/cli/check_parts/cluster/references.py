"""Whether what the pod template names exists: claims, Secrets, ConfigMaps, the account, classes, the queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.cli.check_parts import checkpoint
from hedgerow_operator.cli.check_parts.cluster.site import FORBIDDEN, NOT_FOUND, Fields, Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import PodView, nested, objects

_error, _warning, _fine = about("names")

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_CORE = "/api/v1/namespaces/{namespace}"
# kind: its collection, with the namespace in it where it has one.
_COLLECTIONS = {
    "PersistentVolumeClaim": f"{_CORE}/persistentvolumeclaims",
    "Secret": f"{_CORE}/secrets",
    "ConfigMap": f"{_CORE}/configmaps",
    "ServiceAccount": f"{_CORE}/serviceaccounts",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "LocalQueue": "/apis/kueue.x-k8s.io/v1beta1/namespaces/{namespace}/localqueues",
}


class Reference(NamedTuple):
    """Something that the template names."""

    kind: str
    name: str


async def findings(site: Site) -> list[Finding]:
    """What is missing; what may not be seen is said too."""
    found: list[str] = []
    told: list[Finding] = []
    for reference in sorted(set(references(site))):
        label = f"{reference.kind} {reference.name}"
        if site.is_beside(reference.kind, reference.name):
            found.append(f"{label} (beside the job)")
            continue
        try:
            await site.ask.metadata(path_of(reference, site.namespace))
            found.append(label)
        except Rejected as error:
            told.append(_missing(label, site, error))
    if found:
        told.append(_fine(f"there are {', '.join(found)}"))
    return told


async def claim_findings(site: Site) -> list[Finding]:
    """What is to say about the checkpoint directory, with the claims as the cluster has them."""
    claims: dict[str, Fields] = {}
    for reference in references(site):
        if reference.kind == "PersistentVolumeClaim" and not site.is_beside(*reference):
            found = await site.ask.find(path_of(reference, site.namespace))
            if found is not None:
                claims[reference.name] = found
    return list(checkpoint.findings(site.job.spec, claims.get)) if claims else []


def path_of(reference: Reference, namespace: str) -> str:
    """Where the object would be."""
    return f"{_COLLECTIONS[reference.kind].format(namespace=namespace)}/{reference.name}"


def _missing(label: str, site: Site, error: Rejected) -> Finding:
    if error.status == NOT_FOUND:
        return _error(f"there is no {label} in namespace {site.namespace}, and no pod starts without it")
    if error.status == FORBIDDEN:
        return _warning(f"whether there is {label} could not be looked at, you may not see it")
    raise error


def references(site: Site) -> Iterator[Reference]:
    """Everything that the template names and that must be there."""
    spec = PodView.of(site.job.spec).spec
    for volume in objects(spec, "volumes"):
        yield from _of_volume(volume)
    for container in (*objects(spec, "initContainers"), *objects(spec, "containers")):
        yield from _of_container(container)
    for secret in objects(spec, "imagePullSecrets"):
        yield from _named("Secret", secret.get("name"))
    yield from _named("ServiceAccount", spec.get("serviceAccountName"))
    yield from _named("PriorityClass", spec.get("priorityClassName"))
    yield from _named("RuntimeClass", spec.get("runtimeClassName"))
    yield from _named("LocalQueue", nested(site.template, "metadata", "labels", QUEUE_LABEL))


def _of_volume(volume: Fields) -> Iterator[Reference]:
    yield from _named("PersistentVolumeClaim", nested(volume, "persistentVolumeClaim", "claimName"))
    sources = [volume, *objects(volume.get("projected") or {}, "sources")]
    for source in sources:
        yield from _wanted("ConfigMap", source.get("configMap"), "name")
        yield from _wanted("Secret", source.get("secret"), "secretName" if source is volume else "name")


def _of_container(container: Fields) -> Iterator[Reference]:
    for entry in objects(container, "envFrom"):
        yield from _wanted("ConfigMap", entry.get("configMapRef"), "name")
        yield from _wanted("Secret", entry.get("secretRef"), "name")
    for entry in objects(container, "env"):
        yield from _wanted("ConfigMap", nested(entry, "valueFrom", "configMapKeyRef"), "name")
        yield from _wanted("Secret", nested(entry, "valueFrom", "secretKeyRef"), "name")


def _wanted(kind: str, source: Any, name: str) -> Iterator[Reference]:
    if isinstance(source, dict) and not source.get("optional"):
        yield from _named(kind, source.get(name))


def _named(kind: str, name: Any) -> Iterator[Reference]:
    if isinstance(name, str) and name:
        yield Reference(kind, name)

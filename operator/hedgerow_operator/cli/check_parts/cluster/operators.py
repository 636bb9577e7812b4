"""The operator that is installed: whether it runs, watches the namespace, can be reached, and how it injects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.check_parts.pod_view import nested, objects

_error, _warning, _fine = about("operator")

_DEPLOYMENTS = "/apis/apps/v1/deployments"
_LABELS = "app.kubernetes.io/part-of=hedgerow,app.kubernetes.io/component=operator"
_SLICES = "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"


class Operator(Struct, frozen=True):
    """An installed operator. where: NAMESPACE/NAME of its Deployment. arguments: those of its container, by name."""

    where: str
    ready: int
    arguments: Mapping[str, Sequence[str]]

    def watches(self, namespace: str) -> bool:
        """Whether it looks at this namespace."""
        return namespace in self.arguments.get("namespace", ()) or "namespace" not in self.arguments

    def injection(self, supposed: Injection) -> Injection:
        """How it injects the launcher; ``supposed`` where it does not say."""

        def told(name: str, otherwise: str) -> str:
            return next(iter(self.arguments.get(name, ())), otherwise)

        return Injection(
            image=told("inject-image", supposed.image),
            report_url=told("report-url", supposed.report_url),
            pull_policy=told("inject-pull-policy", supposed.pull_policy),
            cpu=told("inject-cpu", supposed.cpu),
            memory=told("inject-memory", supposed.memory),
            ephemeral_storage=told("inject-ephemeral-storage", supposed.ephemeral_storage),
        )


async def installed(ask: Inquiry) -> list[Operator]:
    """Every operator of the cluster. Raises Rejected when the user may not see Deployments of all namespaces."""
    return [_read(fields) for fields in await ask.list(_DEPLOYMENTS, labels=_LABELS)]


def responsible(operators: Sequence[Operator], namespace: str) -> Operator | None:
    """The operator that looks at this namespace."""
    return next((operator for operator in operators if operator.watches(namespace)), None)


def findings(operators: Sequence[Operator], namespace: str) -> list[Finding]:
    """What is to say about the operators as seen from a namespace."""
    if not operators:
        return [_error("no operator is installed, so nothing would start the job; install charts/hedgerow")]
    one = responsible(operators, namespace)
    if one is None:
        watched = sorted({name for operator in operators for name in operator.arguments["namespace"]})
        return [
            _error(
                f"no operator watches namespace {namespace}, only {', '.join(watched)}; add it to the chart's "
                "watchNamespaces"
            )
        ]
    if one.ready == 0:
        return [_error(f"the operator {one.where} is installed and does not run: see its Deployment")]
    return [_fine(f"the operator {one.where} runs and watches namespace {namespace}")]


async def service_findings(site: Site) -> list[Finding]:
    """Whether anybody listens behind the report URL, where that is a Service."""
    url = site.injection.report_url
    name, namespace = service_of(url)
    if not name:
        return [_fine(f"pods report to {url}, which is no Service of this cluster; --probe tries it from a pod")]
    path = _SLICES.format(namespace=namespace)
    slices = await site.ask.list(path, labels=f"kubernetes.io/service-name={name}")
    ready = sum(
        nested(endpoint, "conditions", "ready") is not False
        for part in slices
        for endpoint in objects(part, "endpoints")
    )
    if ready:
        return [_fine(f"pods report to {url}, where {ready} {'answers' if ready == 1 else 'answer'}")]
    return [_error(f"pods would report to {url}, and no endpoint of Service {namespace}/{name} is ready")]


def service_of(url: str) -> tuple[str, str]:
    """Name and namespace of the Service that a URL means; empty where it means none."""
    parts = (urlsplit(url).hostname or "").split(".")
    return (parts[0], parts[1]) if len(parts) >= 3 and parts[2] == "svc" else ("", "")


def _read(fields: Mapping[str, Any]) -> Operator:
    metadata = fields["metadata"]
    arguments: dict[str, list[str]] = {}
    for name, value in _arguments(fields):
        arguments.setdefault(name, []).append(value)
    ready = int(nested(fields, "status", "readyReplicas") or 0)
    return Operator(f"{metadata['namespace']}/{metadata['name']}", ready, arguments)


def _arguments(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for container in objects(nested(fields, "spec", "template", "spec") or {}, "containers"):
        for word in container.get("args") or []:
            name, equals, value = str(word).removeprefix("--").partition("=")
            if equals:
                yield name, value

"""Which pods are dcgm-exporters, and what nodes they speak for: the API server says so, never the exporter."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.reconcile.exporters import Exporter, ExporterRules
from hedgerow_operator.reconcile.ports import Unreachable


class KubeExporters:
    """Implements reconcile.exporters.Exporters."""

    def __init__(self, api: Api, rules: ExporterRules) -> None:
        self._api = api
        self._rules = rules

    async def running(self) -> Mapping[str, Exporter]:
        """Of several on one node the newest: the other one is on its way out."""
        rules = self._rules
        try:
            pods = await self._api.list(paths.pods(rules.namespace), rules.selector)
        except Rejected as error:
            raise Unreachable(f"pods of {rules.namespace} cannot be listed: {error}") from error
        found: dict[str, Exporter] = {}
        for pod in sorted(pods, key=_age):
            exporter = _exporter(pod, rules.port)
            if exporter is not None:
                found[exporter.node] = exporter
        return found


def _age(pod: Fields) -> tuple[str, str]:
    metadata = pod["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["name"]


def _exporter(pod: Fields, port: int) -> Exporter | None:
    metadata, status = pod["metadata"], pod.get("status") or {}
    node, address = (pod.get("spec") or {}).get("nodeName"), status.get("podIP")
    if not node or not address or metadata.get("deletionTimestamp") or status.get("phase") != "Running":
        return None
    restarts = sum(entry.get("restartCount") or 0 for entry in status.get("containerStatuses") or [])
    host = f"[{address}]" if ":" in address else address
    return Exporter(node=node, url=f"http://{host}:{port}/metrics", process=f"{metadata.get('uid')}/{restarts}")

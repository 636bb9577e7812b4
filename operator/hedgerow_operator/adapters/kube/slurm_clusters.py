"""SlurmClusters in the API server, and the Secrets that they name."""

from __future__ import annotations

import base64
import binascii

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.slurm_cluster import SlurmCluster, SlurmClusterStatus, slurm_cluster, slurm_cluster_fields
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Refused, Unreachable


class KubeSlurmClusters:
    """Implements reconcile.slurm_clusters.SlurmClusters."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def existing(self, namespaces: tuple[str, ...]) -> tuple[JobKey, ...]:
        """Every one of these namespaces; none named: of all. Raises Unreachable."""
        try:
            found = [fields for path in paths.slurm_clusters(namespaces) for fields in await self._api.list(path)]
        except Rejected as error:
            raise Unreachable(f"SlurmClusters cannot be listed: {error}") from error
        return tuple(JobKey(fields["metadata"]["namespace"], fields["metadata"]["name"]) for fields in found)

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """See SlurmClusters. Raises Unreachable."""
        try:
            fields = await self._api.find(paths.slurm_cluster(key.namespace, key.name))
        except Rejected as error:
            raise Unreachable(f"SlurmCluster {key.name} cannot be read: {error}") from error
        return None if fields is None or "deletionTimestamp" in fields["metadata"] else slurm_cluster(fields)

    async def write_status(self, cluster: SlurmCluster, status: SlurmClusterStatus) -> SlurmCluster:
        """See SlurmClusters. Raises Conflict, Unreachable."""
        metadata = cluster.metadata
        body = {**slurm_cluster_fields(cluster), "status": to_builtins(status)}
        path = f"{paths.slurm_cluster(metadata.namespace, metadata.name)}/status"
        try:
            return slurm_cluster(await self._api.replace(path, body))
        except Rejected as error:
            if error.status in (404, 409):
                raise Conflict(str(error)) from error
            raise Unreachable(f"SlurmCluster {metadata.name} cannot be changed: {error}") from error


class KubeSecrets:
    """Entries of Secrets, each read when it is asked for and kept nowhere."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def read(self, namespace: str, name: str, key: str) -> str:
        """One entry. Raises Refused with what to write where it is not there, Unreachable."""
        place = f"Secret {namespace}/{name}"
        try:
            fields = await self._api.find(paths.secret(namespace, name))
        except Rejected as error:
            raise Unreachable(f"{place} may not be read: {error}") from None
        if fields is None:
            raise Refused(f"there is no {place}; create it, with the token in its entry {key}")
        text = (fields.get("data") or {}).get(key)
        if not text:
            raise Refused(f"{place} has no entry {key}; put the token there")
        try:
            return base64.b64decode(text, validate=True).decode("ascii").strip()
        except (binascii.Error, UnicodeDecodeError):
            raise Refused(f"the entry {key} of {place} is no token: those are plain text") from None

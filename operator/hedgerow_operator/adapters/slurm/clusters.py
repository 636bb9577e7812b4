"""The drivers of the SlurmClusters, each made when it is first needed and made anew when its object has changed."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Awaitable, Callable

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.pyslurm.driver import PySlurmDriver
from hedgerow_operator.adapters.slurm.pyslurm.process import PySlurmProcess
from hedgerow_operator.adapters.slurm.rest.connection import Connection
from hedgerow_operator.adapters.slurm.rest.driver import RESTDriver
from hedgerow_operator.adapters.slurm.rest.token import KeptToken
from hedgerow_operator.api import reasons
from hedgerow_operator.api.slurm_cluster import CLI, REST, SlurmCluster, SlurmClusterSpec
from hedgerow_operator.core.slurm.clusters import ClusterSeen
from hedgerow_operator.reconcile.ports import JobKey, Refused, Unreachable

# namespace, name, entry -> its text; raises Refused, Unreachable.
ReadSecret = Callable[[str, str, str], Awaitable[str]]
Key = tuple[str, str, str]


def own_user() -> str:
    """Who this process is, as Slurm's commands see it."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


class ClusterDrivers:
    """Implements reconcile.slurm_clusters.Asking. clock: wall time."""

    def __init__(self, read_secret: ReadSecret, clock: Callable[[], float]) -> None:
        self._read_secret = read_secret
        self._clock = clock
        self._kept: dict[Key, tuple[SlurmClusterSpec, Driver]] = {}

    async def driver(self, cluster: SlurmCluster, user: str) -> Driver:
        """The one that acts as this user ("": whoever this process is). Raises Refused."""
        key = (cluster.metadata.namespace, cluster.metadata.name, user)
        spec, kept = self._kept.get(key, (None, None))
        if kept is not None and spec == cluster.spec:
            return kept
        if kept is not None:
            del self._kept[key]
            await kept.close()
        made = self._made(cluster, user)
        self._kept[key] = (cluster.spec, made)
        return made

    async def ask(self, cluster: SlurmCluster) -> ClusterSeen:
        """See Asking."""
        spec = cluster.spec
        try:
            driver = await self.driver(cluster, spec.user)
            version = await driver.version()
            nodes = tuple(await driver.nodes())
            await driver.jobs()
        except Refused as error:
            return ClusterSeen(refused=(_reason(spec), str(error)))
        except Unreachable as error:
            return ClusterSeen(unreachable=str(error))
        refused = [user for user in _others(spec) if not await self._may_be(cluster, user)]
        return ClusterSeen(version=version, nodes=nodes, refused_users=tuple(refused))

    async def forget(self, key: JobKey) -> None:
        """See Asking."""
        for kept in [kept for kept in self._kept if kept[:2] == (key.namespace, key.name)]:
            _spec, driver = self._kept.pop(kept)
            await driver.close()

    async def close(self) -> None:
        """Let go of every session and process."""
        kept, self._kept = self._kept, {}
        for _spec, driver in kept.values():
            with contextlib.suppress(Exception):
                await driver.close()

    async def _may_be(self, cluster: SlurmCluster, user: str) -> bool:
        try:
            await (await self.driver(cluster, user)).jobs()
        except (Refused, Unreachable):
            return False
        return True

    def _made(self, cluster: SlurmCluster, user: str) -> Driver:
        spec = cluster.spec
        if spec.driver == REST:
            return RESTDriver(Connection(spec.url, user if spec.token_secret_ref else None, self._token(cluster)), user)
        if user not in ("", own_user()):
            raise Refused(f"the operator runs as {own_user()}, and so are its commands; write user: {own_user()}")
        return CliDriver() if spec.driver == CLI else PySlurmDriver(PySlurmProcess(), own_user())

    def _token(self, cluster: SlurmCluster) -> KeptToken | None:
        reference = cluster.spec.token_secret_ref
        if reference is None:
            return None
        namespace = cluster.metadata.namespace
        return KeptToken(lambda: self._read_secret(namespace, reference.name, reference.key), self._clock)


def _others(spec: SlurmClusterSpec) -> list[str]:
    """The users of allowedNamespaces besides the cluster's own."""
    return sorted({entry.user for entry in spec.allowed_namespaces} - {"", spec.user})


def _reason(spec: SlurmClusterSpec) -> str:
    return reasons.TOKEN_MISSING if spec.token_secret_ref is not None else reasons.USER_REFUSED

"""The whole cluster: start it, talk to it, break it, heal it."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.cluster.testbed import components, network
from tests.cluster.testbed.api import Api
from tests.cluster.testbed.certificates import Authority
from tests.cluster.testbed.commands import run
from tests.cluster.testbed.components import SERVER, SERVER_NAMES, Site
from tests.cluster.testbed.daemons import Daemon
from tests.cluster.testbed.nodes import Node
from tests.cluster.testbed.prepared import Prepared
from tests.cluster.testbed.waiting import wait_for

GPUS = "nvidia.com/gpu"
READY_SECONDS = 90


class Cluster:
    """A running cluster. `kubeconfig` is the administrator's; each component and node has start, stop, kill and so on.

    Components: `etcd`, `apiserver`, `controller_manager`, `scheduler`, `proxy` (Services as seen from here), `dns`.
    """

    def __init__(self, prepared: Prepared, nodes: int, gpus: int, node_grace_seconds: int) -> None:
        work = prepared.folder / "cluster"
        work.mkdir()
        self.site = Site(work, prepared.programs, work / "certificates", prepared.cgroup)
        self.gpus = gpus
        self.kubeconfig = self._issue_certificates(nodes)
        self.api = Api(SERVER.removeprefix("https://"), self.site.certificates)
        site = self.site
        (work / "Corefile").write_text(components.corefile(site))
        self.etcd = self._daemon("etcd", components.etcd(site))
        self.apiserver = self._daemon("apiserver", components.apiserver(site))
        self.controller_manager = self._daemon(
            "controller-manager", components.controller_manager(site, node_grace_seconds)
        )
        self.scheduler = self._daemon("scheduler", components.scheduler(site))
        self.proxy = self._daemon("proxy", components.proxy(site, "node1"))
        self.dns = self._daemon("dns", components.dns(site))
        self.nodes = [Node(site, index, prepared.store) for index in range(1, nodes + 1)]

    @classmethod
    def start(cls, nodes: int = 3, gpus: int = 8, node_grace_seconds: int = 10) -> "Cluster":
        """Start a cluster in the namespaces that this process was started in, and wait until every node is Ready.

        `gpus` is what each node offers as nvidia.com/gpu; a dead node is noticed after `node_grace_seconds`.
        """
        cluster = cls(Prepared.load(), nodes, gpus, node_grace_seconds)
        network.set_up_control_plane()
        try:
            cluster._start_everything()
        except BaseException:
            cluster.stop()
            raise
        return cluster

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """The control plane, in the order of starting."""
        return (self.etcd, self.apiserver, self.controller_manager, self.scheduler, self.proxy, self.dns)

    def node(self, name: str) -> Node:
        """The node of that name, as a pod's spec.nodeName gives it."""
        return next(node for node in self.nodes if node.name == name)

    def stop(self) -> None:
        """End every process; what is on disk goes with the run."""
        self.api.close()
        for node in self.nodes:
            node.kill()
        for daemon in reversed(self.daemons):
            daemon.kill()

    def heal(self) -> None:
        """Bring back whatever a test has killed, frozen or cut off, and wait until every node is Ready."""
        for daemon in self.daemons:
            if daemon.running:
                daemon.thaw()
            daemon.start()
        self.wait_ready()
        ill = [node for node in self.nodes if not node.sound]
        said = {node.name: self._last_sign(node.name) for node in ill}
        for node in ill:
            node.heal()
        for name, before in said.items():
            # A node that was away shortly may still be called Ready from before.
            self._wait_checked(f"a sign of life of {name}", partial(self._spoke_since, name, before))
        self.wait_nodes()

    def kubectl(self, *arguments: str, stdin: str | None = None, timeout: float = 60) -> str:
        """Run kubectl as the administrator and return what it prints; ClusterError when it fails."""
        command = [self.site.program("kubectl"), *arguments]
        return run(command, stdin=stdin, environment={"KUBECONFIG": str(self.kubeconfig)}, timeout=timeout)

    def helm(self, *arguments: str, timeout: float = 180) -> str:
        """Run Helm as the administrator and return what it prints; ClusterError when it fails."""
        home = self.site.work / "helm"
        folders = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        environment = {"KUBECONFIG": str(self.kubeconfig), **folders}
        return run([self.site.program("helm"), *arguments], environment=environment, timeout=timeout)

    def wait_for(self, what: str, probe: Callable[[Api], Any], timeout: float = 30) -> Any:
        """Poll `probe(api)` until it returns something true, and return that."""
        return wait_for(what, lambda: probe(self.api), timeout)

    def wait_ready(self) -> None:
        """Wait until the API server is ready."""
        self._wait_checked("the API server", self.api.ready)

    def wait_nodes(self) -> None:
        """Wait until every node is Ready and offers its GPUs."""
        for node in self.nodes:
            self._wait_checked(f"{node.name} to register", partial(self._registered, node.name))
        self._wait_checked("every node to be Ready", lambda: all(self.node_ready(node.name) for node in self.nodes))

    def node_ready(self, name: str) -> bool:
        """Whether the node's Ready condition is True now."""
        found = self.api.get(f"/api/v1/nodes/{name}") or {"status": {}}
        conditions = found["status"].get("conditions", [])
        return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive into every node that is on."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: node.import_image(archive), [node for node in self.nodes if node.running]))

    @contextmanager
    def namespace(self, prefix: str = "test") -> Iterator[str]:
        """A namespace of a fresh name, ready for pods; its deletion is begun at the end and not waited for."""
        name = f"{prefix}-{uuid.uuid4().hex[:8]}"
        self.kubectl("create", "namespace", name)
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        self.wait_for(f"the service account of {name}", lambda api: api.get(account))
        try:
            yield name
        finally:
            self.kubectl("delete", "namespace", name, "--wait=false")

    def _start_everything(self) -> None:
        self.etcd.start()
        self.apiserver.start()
        for node in self.nodes:
            node.boot()
        self.wait_ready()
        self.controller_manager.start()
        for node in self.nodes:
            node.start()
        for daemon in self.daemons:
            daemon.start()
        self.wait_nodes()
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self._wait_checked("the default service account", lambda: self.api.get(account) is not None)

    def _last_sign(self, node: str) -> str:
        lease = self.api.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}")
        return str(lease["spec"]["renewTime"]) if lease else ""

    def _spoke_since(self, node: str, before: str) -> bool:
        return self._last_sign(node) > before

    def _registered(self, name: str) -> bool:
        path = f"/api/v1/nodes/{name}"
        found = self.api.get(path)
        if found is None:
            return False
        # The kubelet keeps what others put into its node's capacity; a device plugin would be the long way to it.
        if found["status"].get("capacity", {}).get(GPUS) != str(self.gpus):
            amount = {GPUS: str(self.gpus)}
            self.api.patch_status(path, {"capacity": amount, "allocatable": amount})
        return True

    def _wait_checked(self, what: str, probe: Callable[[], bool]) -> None:
        """Wait, and fail at once when a program of the cluster has ended by itself."""

        def look() -> bool:
            for daemon in (*self.daemons, *(daemon for node in self.nodes for daemon in node.daemons)):
                daemon.check()
            return probe()

        wait_for(what, look, READY_SECONDS)

    def _daemon(self, name: str, command: list[str]) -> Daemon:
        return Daemon(name, command, self.site.work / f"{name}.log")

    def _issue_certificates(self, nodes: int) -> Path:
        authority = Authority(self.site.certificates, SERVER)
        jobs: list[Callable[[], object]] = [
            lambda: authority.issue("server", "/CN=kube-apiserver", SERVER_NAMES),
            lambda: authority.kubeconfig("controller-manager", "/CN=system:kube-controller-manager"),
            lambda: authority.kubeconfig("scheduler", "/CN=system:kube-scheduler"),
            lambda: authority.kubeconfig("proxy", "/CN=system:kube-proxy"),
        ]
        for index in range(1, nodes + 1):
            cable = network.Cable(index)
            subject = f"/O=system:nodes/CN=system:node:{cable.device}"
            jobs.append(partial(authority.kubeconfig, cable.device, subject, f"IP:{cable.address}"))
        with ThreadPoolExecutor() as pool:
            for result in [pool.submit(job) for job in jobs]:
                result.result()
        return authority.kubeconfig("admin", "/O=system:masters/CN=admin")

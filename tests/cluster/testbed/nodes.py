"""A node: kubelet, containerd, kube-proxy and containers in namespaces of their own, so that it can really die."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.testbed import cgroups, components, machine, network, node_files, processes, stores
from tests.cluster.testbed.commands import run
from tests.cluster.testbed.components import Site
from tests.cluster.testbed.daemons import Daemon
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.paths import REPOSITORY
from tests.cluster.testbed.requirements import ISOLATE
from tests.cluster.testbed.waiting import wait_for

# A process is in the node's control group before it enters the node, where it could not move itself any more.
ENTER = 'while [ "$1" != -- ]; do echo 0 > "$1"; shift; done; shift; exec nsenter "$@"'


class Node:
    """Node number `index`, named node1 and so on. Its daemons: `kubelet`, `containerd`, `proxy`."""

    def __init__(self, site: Site, index: int, images: Path) -> None:
        self.cable = network.Cable(index)
        self.name, self.address = self.cable.device, self.cable.address
        self.folder = site.work / self.name
        self.socket = self.folder / "containerd.sock"
        self._site, self._images = site, images
        self._cgroup = f"{site.cgroup}/{self.name}"
        self._cut_off = False
        self._machine: subprocess.Popen[bytes] | None = None
        self.containerd = self._daemon(
            "containerd", [site.program("containerd"), "-c", self.folder / "containerd.toml"]
        )
        self.kubelet = self._daemon("kubelet", self._kubelet_command())
        self.proxy = self._daemon("proxy", components.proxy(site, self.name))

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """What runs on the node, in the order of starting."""
        return (self.containerd, self.proxy, self.kubelet)

    @property
    def running(self) -> bool:
        """Whether the machine is on."""
        return self._machine is not None and self._machine.poll() is None

    @property
    def sound(self) -> bool:
        """Whether it is on, on the network, and nothing of it is dead or frozen."""
        if not self.running or self._cut_off:
            return False
        return all(daemon.running and processes.state(daemon.pid) != "T" for daemon in self.daemons)

    @property
    def pid(self) -> int:
        """Process 1 of the node, as seen from the control plane."""
        if self._machine is None or not self.running:
            raise ClusterError(f"{self.name} is off: call start() first.")
        return processes.children(self._machine.pid)[0]

    def entry(self) -> list[str]:
        """The words before a command that make it run on this node."""
        groups = [str(path) for path in cgroups.members(f"{self._cgroup}/{machine.SYSTEM}")]
        spaces = ["--target", str(self.pid), "--net", "--mount", "--pid", "--cgroup", "--"]
        return ["sh", "-c", ENTER, "enter", *groups, "--", *spaces]

    def boot(self) -> None:
        """Switch the machine on with containerd alone, which needs no API server."""
        if not self.running:
            self._prepare()
            self._power_on()
            network.connect(self.cable, self.pid)
        self.containerd.start()

    def start(self) -> None:
        """Switch on what is off: the machine, containerd, kube-proxy and the kubelet."""
        self.boot()
        wait_for(f"containerd of {self.name}", self._containerd_answers)
        self.proxy.start()
        self.kubelet.start()

    def kill(self) -> None:
        """A machine that loses power: every process of it ends at once, nothing is cleaned up or said to anyone."""
        if self._machine is None:
            return
        if self.running:
            # The kernel would close the connections of what it kills; a machine without power says no goodbye.
            network.cut(self.cable)
            os.kill(self.pid, 9)
        self._machine.wait()
        self._machine = None
        for daemon in self.daemons:
            daemon.forget()
        network.disconnect(self.cable)
        network.mend(self.cable)

    def freeze(self) -> None:
        """Stop every process of the node, containers too, as a hypervisor that pauses a machine does."""
        frozen: set[int] = set()
        while pids := self._everything() - frozen:
            for pid in pids:
                processes.send(pid, "STOP")
            frozen |= pids

    def thaw(self) -> None:
        """Let every process of the node go on."""
        for daemon in self.daemons:
            if daemon.running:
                daemon.thaw()
        for pid in self._everything():
            processes.send(pid, "CONT")

    def partition(self) -> None:
        """Pull the network cable: node and pods go on and hear nobody."""
        self._cut_off = True
        network.cut(self.cable)

    def partition_pods(self) -> None:
        """Cut the pods off from everything outside the node; the kubelet still reports."""
        self._cut_off = True
        network.cut(self.cable, pods_only=True)

    def reconnect(self) -> None:
        """Undo partition() and partition_pods()."""
        network.mend(self.cable)
        self._cut_off = False

    def heal(self) -> None:
        """Undo whatever was done to it."""
        self.reconnect()
        if self.running:
            self.thaw()
        self.start()

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive into the node."""
        run(stores.import_command(self._site.programs / "ctr", self.socket, archive))

    def _daemon(self, name: str, command: Sequence[str | Path]) -> Daemon:
        return Daemon(f"{name} of {self.name}", command, self.folder / f"{name}.log", host=self)

    def _kubelet_command(self) -> list[str | Path]:
        return [
            self._site.program("kubelet"),
            f"--config={self.folder / 'kubelet.json'}",
            f"--kubeconfig={self._site.certificates / f'{self.name}.kubeconfig'}",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address}",
            f"--root-dir={self.folder / 'kubelet'}",
        ]

    def _prepare(self) -> None:
        """Write the files of the node, and give it its images when it has none."""
        networks = self.folder / "networks"
        networks.mkdir(parents=True, exist_ok=True)
        (networks / "pods.conflist").write_text(node_files.pod_network(self.cable))
        root = self.folder / "images"
        if not root.exists():
            stores.derive(self._images, root)
        (self.folder / "containerd.toml").write_text(node_files.containerd(root, self.socket, networks))
        settings = node_files.kubelet(self._site, self.cable, self.folder, self.socket)
        (self.folder / "kubelet.json").write_text(settings)
        cgroups.remove(self._cgroup)

    def _power_on(self) -> None:
        ready, report = os.pipe()
        environment = {**os.environ, "PATH": f"{self._site.programs}:{os.environ['PATH']}"}
        with (self.folder / "machine.log").open("ab") as output:
            module = [sys.executable, "-m", machine.__name__, str(report), self._cgroup]
            self._machine = subprocess.Popen(
                [*ISOLATE, *module],
                cwd=REPOSITORY,
                env=environment,
                pass_fds=(report,),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        os.close(report)
        with os.fdopen(ready, "rb") as pipe:
            if pipe.read(1) != b"1":
                words = (self.folder / "machine.log").read_text(errors="replace")[-400:]
                raise ClusterError(f"{self.name} did not come up: {words}")

    def _everything(self) -> set[int]:
        """All processes of the node; what entered it later has its parent outside."""
        roots = [self.pid, *(daemon.pid for daemon in self.daemons if daemon.running)]
        return {*roots[1:], *(pid for root in roots for pid in processes.descendants(root))}

    def _containerd_answers(self) -> bool:
        self.containerd.check()
        return self.socket.is_socket() and processes.accepts(self.socket)

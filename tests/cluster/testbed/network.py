"""The network: the control plane in the middle, and a cable from it to each node.

Everything between nodes is routed through the control plane's namespace, so that pulling a cable is a firewall rule
there and packets vanish silently, as they do when a switch dies.
"""

import subprocess
from dataclasses import dataclass

from tests.cluster.testbed.commands import run
from tests.cluster.testbed.waiting import wait_for

CONTROL_PLANE = "10.87.0.1"
PODS = "10.88.0.0/16"
SERVICES = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"


@dataclass(frozen=True)
class Cable:
    """Node number `index` (from 1): its name, address, and the addresses of its pods."""

    index: int

    @property
    def device(self) -> str:
        """The end of the cable at the control plane, named as the node."""
        return f"node{self.index}"

    @property
    def address(self) -> str:
        """The node's own address."""
        return f"10.87.0.{10 + self.index}"

    @property
    def pods(self) -> str:
        """The subnet of the node's pods."""
        return f"10.88.{self.index}.0/24"


def set_up_control_plane() -> None:
    """Give this namespace the control plane's address and a route for Services, which kube-proxy then translates."""
    _ip(f"addr add {CONTROL_PLANE}/32 dev lo")
    _ip(f"route add {SERVICES} dev lo src {CONTROL_PLANE}")


def connect(cable: Cable, node: int) -> None:
    """Lay a cable from here into the network namespace of process `node`."""
    _ip(f"link add {cable.device} type veth peer name eth0 netns {node}")
    inside = ("nsenter", "--target", str(node), "--net")
    run([*inside, "ip", "-batch", "-"], stdin=_node_setup(cable))
    _ip(f"link set {cable.device} up")
    _ip(f"route add {cable.address}/32 dev {cable.device} src {CONTROL_PLANE}")
    _ip(f"route add {cable.pods} via {cable.address} dev {cable.device} src {CONTROL_PLANE}")


def disconnect(cable: Cable) -> None:
    """Take the cable of a dead node away; the kernel does it too, and either may come first."""
    subprocess.run(["ip", "link", "delete", cable.device], stderr=subprocess.DEVNULL, check=False)
    wait_for(f"the cable of {cable.device} to go", lambda: cable.device not in run(["ip", "-brief", "link"]))


def cut(cable: Cable, *, pods_only: bool = False) -> None:
    """Let every packet between the node and the rest vanish; with `pods_only` the node itself stays reachable."""
    for rule in _cut_rules(cable, pods_only):
        run(["iptables", "--wait", "-I", *rule])


def mend(cable: Cable) -> None:
    """Undo every `cut` of this cable."""
    for pods_only in (False, True):
        for rule in _cut_rules(cable, pods_only):
            while _delete(rule):
                pass


def _cut_rules(cable: Cable, pods_only: bool) -> list[list[str]]:
    outward = ["-i", cable.device, *(["-s", cable.pods] if pods_only else []), "-j", "DROP"]
    inward = ["-o", cable.device, *(["-d", cable.pods] if pods_only else []), "-j", "DROP"]
    return [["INPUT", *outward], ["FORWARD", *outward], ["FORWARD", *inward], ["OUTPUT", *inward]]


def _delete(rule: list[str]) -> bool:
    """Delete one such rule; whether there was one."""
    command = ["iptables", "--wait", "-D", *rule]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _node_setup(cable: Cable) -> str:
    return "\n".join(
        (
            f"addr add {cable.address}/32 dev eth0",
            "link set eth0 up",
            f"route add {CONTROL_PLANE}/32 dev eth0 src {cable.address}",
            f"route add default via {CONTROL_PLANE} dev eth0 src {cable.address}",
        )
    )


def _ip(arguments: str) -> None:
    run(["ip", *arguments.split()])

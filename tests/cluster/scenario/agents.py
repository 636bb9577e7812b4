"""The node agents that the chart runs, over GPUs that a file plays for each node."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.scenario.manifests import Fields
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed import hedgerow, processes

NODES = ("node1", "node2", "node3")
SILENT_SECONDS = 10
QUARANTINE_SECONDS = 5
HOLD_SECONDS = "5.0"
SICK_GPU = 3
PCI = "0000:04:00"
LOST_AFTER_SECONDS = 8
_FILE = "gpus.yaml"


class Agents:
    """One agent on each node."""

    def __init__(self, operator: InstalledOperator) -> None:
        self._operator = operator
        self._cluster = operator.cluster
        self._folder: Path = operator.cluster.site.work / "agents"

    def install(self) -> None:
        """With times that a test can wait for; every GPU is well."""
        for node in NODES:
            (self._folder / node).mkdir(parents=True, exist_ok=True)
            self.heal(node)
        self._operator.install(
            "agent.enabled=true",
            "nodeAction=Taint",
            f"agent.devices=fake:/fake/{_FILE}",
            f"agent.silentSeconds={SILENT_SECONDS}",
            f"agent.quarantineSeconds={QUARANTINE_SECONDS}",
            "agent.extraEnv[0].name=HEDGEROW_AGENT_HOLD_SECONDS",
            f"agent.extraEnv[0].value={HOLD_SECONDS}",
            "agent.extraVolumes[0].name=fake",
            f"agent.extraVolumes[0].hostPath.path={self._folder}",
            "agent.extraVolumeMounts[0].name=fake",
            "agent.extraVolumeMounts[0].mountPath=/fake",
            "agent.extraVolumeMounts[0].subPathExpr=$(HEDGEROW_NODE)",
        )

    def heal(self, node: str) -> None:
        """Every GPU of the node is well."""
        self._play(node, {"gpus": [{"profile": "a100", "count": 8}]})

    def lose(self, node: str, pid: int) -> None:
        """A GPU that this process uses falls off the bus in a moment, and the kernel says so."""
        line = f"NVRM: Xid (PCI:{PCI}): 79, pid={pid}, name=python3, GPU has fallen off the bus."
        at = {"at": LOST_AFTER_SECONDS}
        used = {"at": 0, "gpu": SICK_GPU, "processes": [{"pid": _pid_on_node(pid)}]}
        lost = {**at, "gpu": SICK_GPU, "state": "Lost"}
        self._play(node, {"gpus": [{"profile": "a100", "count": 8}], "script": [used, lost, {**at, "kernel": line}]})

    def fail(self, node: str) -> None:
        """A GPU of this node falls off the bus in a moment."""
        line = f"NVRM: Xid (PCI:{PCI}): 79, GPU has fallen off the bus."
        lost = {"at": 1, "gpu": SICK_GPU, "state": "Lost"}
        self._play(node, {"gpus": [{"profile": "a100", "count": 8}], "script": [lost, {"at": 1, "kernel": line}]})

    def images(self) -> set[str]:
        """What the agents run from."""
        return {pod["spec"]["containers"][0]["image"] for pod in self._pods()}

    def events(self, node: str) -> list[Fields]:
        """The events about its GPUNode, oldest first."""
        fields = f"involvedObject.kind%3DGPUNode,involvedObject.name%3D{node}"
        found = self._cluster.api.get(f"/api/v1/namespaces/default/events?fieldSelector={fields}")
        return sorted(found["items"], key=lambda entry: str(entry["metadata"]["creationTimestamp"]))

    def gpu_node(self, node: str) -> Fields:
        """The status of its GPUNode; empty while there is none."""
        found = self._cluster.api.get(f"/apis/hedgerow.dev/v1alpha1/gpunodes/{node}")
        return dict(found.get("status") or {}) if found else {}

    def condition(self, node: str, kind: str) -> tuple[str, str]:
        """Status and reason of a condition of the GPUNode."""
        found = {entry["type"]: entry for entry in self.gpu_node(node).get("conditions", [])}
        return (found[kind]["status"], found[kind]["reason"]) if kind in found else ("", "")

    def wait_state(self, state: str, *nodes: str, timeout: float = 90) -> None:
        """Wait until `kubectl get gn` says this of these nodes."""
        self._cluster.wait_for(
            f"{', '.join(nodes)} to be {state}",
            lambda _: {node: self.gpu_node(node).get("state") for node in nodes} == dict.fromkeys(nodes, state),
            timeout,
        )

    @contextmanager
    def silenced(self, *nodes: str) -> Iterator[None]:
        """The agents of these nodes do not run meanwhile, though their pods do."""
        pids = [pid for node in nodes for pid in self._processes(node)]
        for pid in pids:
            processes.send(pid, "STOP")
        try:
            yield
        finally:
            for pid in pids:
                processes.send(pid, "CONT")

    def _processes(self, node: str) -> list[int]:
        (pod,) = (pod for pod in self._pods() if pod["spec"].get("nodeName") == node)
        return processes.of_container(pod["status"]["containerStatuses"][0]["containerID"])

    def _pods(self) -> list[Fields]:
        selector = "app.kubernetes.io%2Fcomponent%3Dagent"
        found = self._cluster.api.get(f"/api/v1/namespaces/{hedgerow.NAMESPACE}/pods?labelSelector={selector}")
        return list(found["items"])

    def _play(self, node: str, story: Fields) -> None:
        path = self._folder / node / _FILE
        part = path.with_suffix(".part")
        part.write_text(json.dumps(story))
        part.rename(path)


def _pid_on_node(pid: int) -> int:
    """The number of a container's process in the namespace of its node."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("NSpid:"))
    return int(line.split()[-2])

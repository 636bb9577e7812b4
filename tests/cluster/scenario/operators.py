"""The operator that the chart has installed, as a test sees and harms it."""

import json

from tests.cluster.scenario.manifests import Fields
from tests.cluster.testbed import hedgerow, processes
from tests.cluster.testbed.cluster import Cluster

NODE = "node1"
COMPONENT = "app.kubernetes.io/component=operator"


class InstalledOperator:
    """Hedgerow as its chart installs it, on `NODE`, so that the other nodes may die."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def install(self, *settings: str) -> None:
        """Install or upgrade it with these chart values, and wait until it is ready."""
        place = f"nodeSelector.kubernetes\\.io/hostname={NODE}"
        hedgerow.install(self.cluster, place, *settings)

    def pods(self) -> list[Fields]:
        """Its pods that are not on their way out."""
        path = f"/api/v1/namespaces/{hedgerow.NAMESPACE}/pods?labelSelector={COMPONENT.replace('=', '%3D')}"
        found = self.cluster.api.get(path)["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def process(self, pod: str) -> int:
        """The process id of the operator in this pod."""
        found = next(entry for entry in self.pods() if entry["metadata"]["name"] == pod)
        return processes.of_container(found["status"]["containerStatuses"][0]["containerID"])[0]

    def leader(self) -> str:
        """The pod that leads; empty while none does."""
        lease = self.cluster.api.get(
            f"/apis/coordination.k8s.io/v1/namespaces/{hedgerow.NAMESPACE}/leases/{self.deployment()}"
        )
        holder = (lease or {"spec": {}})["spec"].get("holderIdentity") or ""
        names = [pod["metadata"]["name"] for pod in self.pods()]
        return next((name for name in names if holder.startswith(f"{name}_")), "")

    def deployment(self) -> str:
        """The name of its Deployment, and of everything else that belongs to it."""
        return hedgerow.RELEASE

    def logs(self) -> str:
        """What its pods have logged, restarted containers included."""
        texts = []
        for pod in self.pods():
            name = pod["metadata"]["name"]
            texts.append(self._kubectl("logs", name))
            if any(entry["restartCount"] for entry in pod["status"].get("containerStatuses", [])):
                texts.append(self._kubectl("logs", "--previous", name))
        return "\n".join(texts)

    def scale(self, replicas: int) -> None:
        """Run this many of it, and wait until that is so."""
        self._kubectl("scale", f"deployment/{self.deployment()}", f"--replicas={replicas}")
        self._kubectl("rollout", "status", f"deployment/{self.deployment()}", "--timeout=60s")
        self.cluster.wait_for("the operators to be as many", lambda _: len(self._all_pods()) == replicas, 60)

    def lines(self) -> list[Fields]:
        """The logs, line by line."""
        return [json.loads(line) for line in self.logs().splitlines() if line.strip()]

    def _all_pods(self) -> list[Fields]:
        path = f"/api/v1/namespaces/{hedgerow.NAMESPACE}/pods?labelSelector={COMPONENT.replace('=', '%3D')}"
        return list(self.cluster.api.get(path)["items"])

    def _kubectl(self, *arguments: str) -> str:
        return self.cluster.kubectl("-n", hedgerow.NAMESPACE, *arguments, timeout=90)

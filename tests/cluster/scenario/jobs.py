"""One TrainingJob on the cluster, as a test sees it."""

import json
from collections.abc import Callable
from typing import Any

from tests.cluster.scenario import ranks
from tests.cluster.scenario.manifests import Fields, as_text
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError

GROUP = "/apis/hedgerow.dev/v1alpha1"
RECOVERY_SECONDS = 180  # several times what it takes on a quiet machine


class Job:
    """The TrainingJob `name` in `namespace`."""

    def __init__(self, cluster: Cluster, namespace: str, name: str) -> None:
        self.cluster, self.namespace, self.name = cluster, namespace, name
        self.path = f"{GROUP}/namespaces/{namespace}/trainingjobs/{name}"
        self._uid = ""

    @classmethod
    def apply(cls, cluster: Cluster, namespace: str, *objects: Fields) -> "Job":
        """kubectl apply, as a user does it; returns the (last) TrainingJob among the objects."""
        cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=as_text(*objects))
        name = [entry["metadata"]["name"] for entry in objects if entry["kind"] == "TrainingJob"][-1]
        return cls(cluster, namespace, name)

    @property
    def uid(self) -> str:
        """Its uid, also when it is deleted by now."""
        self._uid = self._uid or self.read()["metadata"]["uid"]
        return self._uid

    @property
    def status(self) -> Fields:
        """Its status; empty before the first write, and when it is gone."""
        found = self.cluster.api.get(self.path)
        return dict(found.get("status") or {}) if found else {}

    @property
    def ranks(self) -> list[ranks.RankProcess]:
        """Its rank processes that are alive."""
        return ranks.of_job(self.uid)

    def read(self) -> Fields:
        """The whole object."""
        found = self.cluster.api.get(self.path)
        assert found is not None, f"there is no TrainingJob {self.name}"
        return dict(found)

    def patch(self, change: Fields) -> None:
        """Merge a change into the object, as a user."""
        patch = ("patch", "trainingjob", self.name, "--type=merge", "-p", json.dumps(change))
        self.cluster.kubectl("-n", self.namespace, *patch)

    def delete(self) -> None:
        """kubectl delete, without waiting."""
        self.uid  # noqa: B018  (is remembered)
        self.cluster.kubectl("-n", self.namespace, "delete", "trainingjob", self.name, "--wait=false")

    def condition(self, kind: str) -> Fields:
        """One of its conditions; empty when there is none."""
        return next((entry for entry in self.status.get("conditions", []) if entry["type"] == kind), {})

    def pods(self) -> list[Fields]:
        """Its pods, of whatever placement."""
        return self._labelled(f"/api/v1/namespaces/{self.namespace}/pods")

    def node_of(self, worker: int) -> str:
        """The node of this worker's pod."""
        index = "batch.kubernetes.io/job-completion-index"
        (node,) = (pod["spec"]["nodeName"] for pod in self.pods() if pod["metadata"]["labels"][index] == str(worker))
        return str(node)

    def hardware_fault(self) -> Fields:
        """Its incident once that is put down to hardware; that a rank was stopped may be told before."""
        incident: Fields = self.status.get("incident") or {}
        return incident if incident.get("kind") == "HardwareFault" else {}

    def placements(self) -> list[Fields]:
        """Its Jobs."""
        return self._labelled(f"/apis/batch/v1/namespaces/{self.namespace}/jobs")

    def events(self) -> list[Fields]:
        """The events about it, oldest first."""
        field = f"involvedObject.uid%3D{self.uid}"
        found = self.cluster.api.get(f"/api/v1/namespaces/{self.namespace}/events?fieldSelector={field}")
        return sorted(found["items"], key=lambda entry: str(entry["metadata"]["creationTimestamp"]))

    def wait(self, what: str, probe: Callable[["Job"], Any], timeout: float = RECOVERY_SECONDS) -> Any:
        """Poll until `probe(self)` is true; a failed job ends the wait at once unless that is waited for."""
        try:
            return self.cluster.wait_for(f"{self.name}: {what}", lambda _: probe(self), timeout)
        except ClusterError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None

    def wait_state(self, *states: str, timeout: float = RECOVERY_SECONDS) -> Fields:
        """Wait until status.state is one of these, and return the status. Another final state fails at once."""

        def probe(_: Job) -> Fields:
            status = self.status
            state = status.get("state", "")
            ended = state in ("Failed", "Succeeded") and state not in states
            assert not ended, f"{self.name} ended as {state} instead of {states}\n{self.story()}"
            return status if state in states else {}

        return dict(self.wait(f"to be {' or '.join(states)}", probe, timeout))

    def saved(self) -> list[int]:
        """The steps of its checkpoint files, as they lie on the disk that the nodes share."""
        folder = self.cluster.site.work / "volumes" / self.namespace / self.name
        return sorted(int(path.stem.rpartition("-")[2]) for path in folder.glob("step-*.safetensors"))

    def wait_saved(self, step: int, timeout: float = RECOVERY_SECONDS) -> None:
        """Wait until the checkpoint of this step lies on the disk."""
        self.wait(f"to save step {step}", lambda job: step in job.saved(), timeout)

    def story(self) -> str:
        """What a person needs to see why a test failed."""
        events = [f"{entry['reason']}: {entry['message']}" for entry in self.events()]
        pods = [f"{pod['metadata']['name']} {pod['status'].get('phase')}" for pod in self.pods()]
        return "\n".join(["events:", *events, "pods:", *pods, "status:", json.dumps(self.status, indent=1)])

    def _labelled(self, path: str) -> list[Fields]:
        found = self.cluster.api.get(f"{path}?labelSelector=hedgerow.dev/job-uid%3D{self.uid}")
        return list(found["items"])

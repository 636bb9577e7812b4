"""Images without Python and pods of every kind: nothing of them is changed, and all are watched."""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import STALL_SECONDS, Fields, as_text, merge
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.foreign import BARE_IMAGE, MUSL_IMAGE, PROGRAM, SCRATCH_IMAGE
from tests.cluster.testbed.images import PYTHON_IMAGE

STEPS = 60
FIRST_EPHEMERAL_PORT = 32768
ASKED_FOR = {"cpu": "20m", "memory": "128Mi"}
LIMITS = {"cpu": "200m", "memory": "128Mi"}
QUOTA = {"cpu": "1", "memory": "1Gi"}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
HANG = {"name": "HANG_STEP", "value": "30"}

Jobs = dict[str, Job]


def training(name: str, image: str, *env: Fields, **pod: Any) -> Fields:
    """A job of two ranks of the program that has never heard of Python; `pod` is merged into its pods' spec."""
    container = {
        "name": "train",
        "image": image,
        "imagePullPolicy": "Never",
        "command": [PROGRAM],
        "env": [{"name": "STEPS", "value": str(STEPS)}, *env],
    }
    template: Fields = {"spec": {"nodeSelector": {"kubernetes.io/hostname": NODE}, "containers": [container]}}
    merge(template["spec"], pod)
    spec = {
        "workers": 1,
        "ranksPerWorker": 2,
        "heartbeat": {"logPattern": "step (?P<step>[0-9]+)/"},
        "health": {"stall": {"minSeconds": STALL_SECONDS}},
        "recovery": {"backoff": {"initialSeconds": 1}, "graceSeconds": 5},
        "kubernetes": {"template": template},
    }
    return {"apiVersion": "hedgerow.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": name}, "spec": spec}


def narrow(job: Fields) -> Fields:
    """As the restricted Pod Security Standard and a quota want it, and with nothing that can be written to."""
    spec = job["spec"]["kubernetes"]["template"]["spec"]
    spec["securityContext"] = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec["imagePullSecrets"] = [{"name": "registry"}]
    (container,) = spec["containers"]
    container["resources"] = {"requests": ASKED_FOR, "limits": LIMITS}
    container["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    return job


def accompanied() -> Fields:
    """A job with two containers beside it that never end, which see its processes."""
    sleeper = {"image": PYTHON_IMAGE, "imagePullPolicy": "Never", "command": ["sleep", "infinity"]}
    job = training("accompanied", BARE_IMAGE, shareProcessNamespace=True)
    spec = job["spec"]["kubernetes"]["template"]["spec"]
    spec["initContainers"] = [{"name": "proxy", "restartPolicy": "Always", **sleeper}]
    spec["containers"].insert(0, {"name": "logs", **sleeper})
    job["spec"]["kubernetes"]["container"] = "train"
    return job


@pytest.fixture(scope="module")
def jobs(
    cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch, lost_nodes: "Future[object]"
) -> Iterator[Jobs]:
    """All of them, applied at once, on the node that stays."""
    del operator, watch, lost_nodes  # must be there; goes on meanwhile
    with cluster.namespace("narrow") as limited, cluster.namespace("wide") as free:
        cluster.kubectl("-n", limited, "apply", "-f", "-", stdin=as_text(*limits()))
        cluster.kubectl("label", "namespace", limited, *(f"{name}={value}" for name, value in RESTRICTED.items()))
        images = {"scratch": SCRATCH_IMAGE, "bare": BARE_IMAGE, "musl": MUSL_IMAGE}
        found = [
            narrow(training(name, image, *([HANG] if name == "scratch" else []))) for name, image in images.items()
        ]
        applied = [Job.apply(cluster, limited, job) for job in found]
        pair = [training(name, SCRATCH_IMAGE, hostNetwork=True) for name in ("left", "right")]
        applied += [Job.apply(cluster, free, job) for job in (accompanied(), *pair)]
        yield {job.name: job for job in applied}


def limits() -> Iterator[Fields]:
    """A quota that refuses every container without resources, and bounds for one container."""
    hard = {f"{kind}.{name}": amount for kind in ("requests", "limits") for name, amount in QUOTA.items()}
    yield {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"}, "spec": {"hard": hard}}
    bounds = {"type": "Container", "min": {"cpu": "10m", "memory": "16Mi"}, "max": {"cpu": "500m", "memory": "256Mi"}}
    yield {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds"}, "spec": {"limits": [bounds]}}


def test_two_jobs_on_the_network_of_one_node_have_ports_of_their_own(jobs: Jobs) -> None:
    ports = [jobs[name].wait("to have ranks", master_port) for name in ("left", "right")]
    assert len(set(ports)) == 2
    assert max(ports) < FIRST_EPHEMERAL_PORT
    for name in ("left", "right"):
        status = jobs[name].wait_state("Succeeded")
        assert status["restarts"] == 0, jobs[name].story()
        assert status["step"] == STEPS


@pytest.mark.parametrize("name", ["bare", "musl"])
def test_a_program_is_watched_and_finishes_in_an_image_without_python(jobs: Jobs, name: str) -> None:
    job = jobs[name]
    status = job.wait_state("Succeeded")
    assert (status["restarts"], status["ranks"]["expected"]) == (0, 2), job.story()
    assert status["step"] == STEPS


def test_its_output_is_the_containers_own(cluster: Cluster, jobs: Jobs) -> None:
    job = jobs["musl"]
    job.wait_state("Succeeded")
    (pod,) = job.pods()
    lines = cluster.kubectl("-n", job.namespace, "logs", pod["metadata"]["name"], "-c", "train").splitlines()
    assert lines.count(f"step {STEPS}/{STEPS} loss {4 / STEPS:.3f}") == 2


def test_in_an_image_with_nothing_at_all_a_rank_that_hangs_is_named_and_brought_back(
    jobs: Jobs, watch: AttemptWatch
) -> None:
    job = jobs["scratch"]
    status = job.wait_state("Succeeded")
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"]) == ("NoProgress", [1]), job.story()
    assert (status["restarts"], status["placement"]) == (1, 1), job.story()
    assert status["step"] == STEPS
    watch.check(job.uid)


def test_the_job_ends_with_the_container_that_trains_and_those_beside_it_hold_no_room(jobs: Jobs) -> None:
    job = jobs["accompanied"]
    status = job.wait_state("Succeeded")
    assert status["restarts"] == 0, job.story()
    assert status["step"] == STEPS
    job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))
    assert job.status["state"] == "Succeeded"


def master_port(job: Job) -> int:
    """MASTER_PORT of its ranks; 0 while there are none."""
    for rank in job.ranks:
        variables = Path(f"/proc/{rank.pid}/environ").read_text().split("\0")
        return next(int(entry.partition("=")[2]) for entry in variables if entry.startswith("MASTER_PORT="))
    return 0

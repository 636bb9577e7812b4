"""torchrun as people run it, real torch over gloo: 2 workers of 2 ranks, found and judged through torchrun's tree.

Its own options contradict the job; the job wins. Side by side: one job hangs, of one torchrun is killed, in one a
rank raises.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.scenario import ranks
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import (
    Fields,
    add_environment,
    example,
    merge,
    spread_over_nodes,
    wrapped_container,
)
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import PYTORCH_IMAGE

SECONDS = 240
FIRST_EPHEMERAL_PORT = 32768
# Debian's torch 1.13 cannot read "no redirection" on Python 3.11; a mapping that names no rank here says the same.
NO_REDIRECTION = ["--redirects=9:1", "--tee=9:1"]
TORCHRUN = [
    "python3",
    "-m",
    "torch.distributed.run",
    *NO_REDIRECTION,
    "--nnodes=1",
    "--standalone",
    "--nproc_per_node=4",
    "--max_restarts=3",
]
NO_FAULTS = {"HANG_RANK": "-1", "TORN_STEP": "-1"}
# Long enough to be hit in the middle.
LONG = {**NO_FAULTS, "STEPS": "250"}
# The example's script, with a line that raises at rank 3.
RAISING = f"""
set -e
sed 's/^        optimizer.step()/&\\n        if rank == 3 and step == 12: raise ValueError("bad batch")/' train.py \\
  > /checkpoints/raising.py
PYTHONPATH=/code:$PYTHONPATH exec {" ".join(TORCHRUN)} /checkpoints/raising.py
"""


def torchrun(name: str, command: list[str], env: dict[str, str]) -> Fields:
    """The PyTorch example under another name, started by this command, with a checkpoint folder of its own."""
    (manifest,) = (entry for entry in example("pytorch-ddp") if entry["kind"] == "TrainingJob")
    manifest["metadata"]["name"] = name
    wrapped_container(manifest)["command"] = command
    checkpoints = f"/checkpoints/{name}"
    add_environment(manifest, {"CHECKPOINT_DIRECTORY": checkpoints, **env})
    merge(manifest["spec"], {"checkpoint": {"directory": checkpoints}})
    spread_over_nodes(manifest, name)
    return manifest


@pytest.fixture(scope="module")
def jobs(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch) -> Iterator[dict[str, Job]]:
    """The three jobs under way, by what happens to them."""
    del operator, watch  # must be there
    with restricted_namespace(cluster, "pytorch-ddp") as namespace:
        yield {
            "hangs": Job.apply(cluster, namespace, torchrun("hangs", [*TORCHRUN, "train.py"], {})),
            "killed": Job.apply(
                cluster, namespace, torchrun("killed", ["bash", "-c", f"{' '.join(TORCHRUN)} train.py"], LONG)
            ),
            "raises": Job.apply(cluster, namespace, torchrun("raises", ["bash", "-c", RAISING], NO_FAULTS)),
        }


@pytest.fixture(scope="module")
def pair(cluster: Cluster, jobs: dict[str, Job]) -> Iterator[tuple[Job, Job]]:
    """Two jobs on the network of one node, whose ranks say at which port they meet."""
    del jobs  # begin first
    script = "import os, time; print('port', os.environ['MASTER_PORT'], flush=True); time.sleep(20)"
    command = ["bash", "-c", f'echo "{script}" > /tmp/meet.py && {" ".join(TORCHRUN)} /tmp/meet.py']
    container = {"name": "train", "image": PYTORCH_IMAGE, "imagePullPolicy": "Never", "command": command}
    pod = {"hostNetwork": True, "nodeSelector": {"kubernetes.io/hostname": NODE}, "containers": [container]}
    with cluster.namespace("wide") as namespace:
        left, right = (
            Job.apply(
                cluster,
                namespace,
                {
                    "apiVersion": "hedgerow.dev/v1alpha1",
                    "kind": "TrainingJob",
                    "metadata": {"name": name},
                    "spec": {"workers": 1, "ranksPerWorker": 2, "kubernetes": {"template": {"spec": pod}}},
                },
            )
            for name in ("left", "right")
        )
        yield left, right


def agents(job: Job) -> list[int]:
    """The processes of torchrun itself, on any node."""
    uid = f"HEDGEROW_JOB_UID={job.uid}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_rank = any(variable.startswith(b"RANK=") for variable in variables)
        if uid in variables and b"torch.distributed.run" in words[:3] and not is_rank:
            found.append(int(folder.name))
    return found


def test_when_torchrun_itself_is_killed_its_ranks_are_ended_and_the_job_goes_on(
    jobs: dict[str, Job], watch: AttemptWatch
) -> None:
    job = jobs["killed"]
    job.wait("to train", lambda job: (job.status.get("step") or 0) >= 10, SECONDS)
    orphans = [found.pid for found in job.ranks]
    agent = agents(job)[0]
    os.kill(agent, signal.SIGKILL)
    job.wait("to restart", lambda job: job.status.get("attempt") == 2, SECONDS)
    assert not {found.pid for found in ranks.of_job(job.uid)} & set(orphans)
    (entry,) = job.status["history"]
    assert entry["reason"] == "RankExited"
    assert "which had started this rank, ended by signal 9" in entry["message"], job.story()
    job.wait_state("Succeeded", timeout=SECONDS)
    watch.check(job.uid)


def test_the_rank_that_hangs_below_torchrun_is_named_and_the_job_finishes(
    jobs: dict[str, Job], watch: AttemptWatch
) -> None:
    job = jobs["hangs"]
    status = job.wait_state("Succeeded", timeout=SECONDS)
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], status["restarts"]) == ("NoProgress", [2], 1), job.story()
    assert (status["resumeStep"], status["step"], status["ranks"]["expected"]) == (20, 60, 4)
    watch.check(job.uid)


def test_what_torchrun_is_told_gives_way_and_a_line_says_so(jobs: dict[str, Job]) -> None:
    job = jobs["hangs"]
    job.wait_state("Succeeded", timeout=SECONDS)
    said = job.cluster.kubectl("-n", job.namespace, "logs", job.pods()[0]["metadata"]["name"], "-c", "train")
    assert (
        "hedgerow: torchrun: --nnodes=1 --standalone --nproc_per_node=4 --max_restarts=3 give way to what the job "
        "says: 2 workers of 2 ranks" in said
    )


def test_of_ranks_that_torchrun_ends_after_an_exception_the_first_is_named(jobs: dict[str, Job]) -> None:
    job = jobs["raises"]
    status = job.wait_state("Failed", timeout=SECONDS)
    assert [entry["ranks"] for entry in status["history"]] == [[3], [3]], job.story()
    assert "rank 3 exited with code 1 at step 12: ValueError: bad batch" in status["history"][0]["message"]
    assert job.condition("Failed")["reason"] == "ApplicationFault"


def test_two_jobs_on_the_network_of_one_node_meet_at_ports_of_their_own(pair: tuple[Job, Job]) -> None:
    ports = []
    for job in pair:
        status = job.wait_state("Succeeded", timeout=SECONDS)
        assert status["restarts"] == 0, job.story()
        (pod,) = job.pods()
        said = job.cluster.kubectl("-n", job.namespace, "logs", pod["metadata"]["name"], "-c", "train")
        (port,) = {int(line.split()[1]) for line in said.splitlines() if line.startswith("port ")}
        ports.append(port)
    assert len(set(ports)) == 2
    assert max(ports) < FIRST_EPHEMERAL_PORT

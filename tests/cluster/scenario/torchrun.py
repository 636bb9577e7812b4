"""Jobs that torchrun starts, with options of its own that contradict the job."""

import os
import signal
from pathlib import Path

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import (
    NO_FAULTS,
    TORCH_STALL_SECONDS,
    Fields,
    add_environment,
    example,
    merge,
    spread_over_nodes,
    wrapped_container,
)
from tests.cluster.scenario.operators import NODE
from tests.cluster.testbed.images import PYTORCH_IMAGE

SECONDS = 240
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
# Long enough to be hit in the middle.
LONG = {**NO_FAULTS, "STEPS": "150"}
# The example's script, with a line that raises at rank 1.
RAISING = f"""
set -e
sed 's/^        optimizer.step()/&\\n        if rank == 1 and step == 12: raise ValueError("bad batch")/' train.py \\
  > /checkpoints/raising.py
PYTHONPATH=/code:$PYTHONPATH exec {" ".join(TORCHRUN)} /checkpoints/raising.py
"""


def manifests() -> list[Fields]:
    """Of one job a rank hangs, of one torchrun will be killed, of one a rank raises."""
    return [
        torchrun("hangs", [*TORCHRUN, "train.py"], {}),
        torchrun("killed", ["bash", "-c", f"{' '.join(TORCHRUN)} train.py"], LONG, ranksPerWorker=1),
        torchrun("raises", ["bash", "-c", RAISING], NO_FAULTS, workers=1),
    ]


def torchrun(name: str, command: list[str], env: dict[str, str], **size: int) -> Fields:
    """The PyTorch example under another name and of this size, with this command and a checkpoint folder of its own."""
    (manifest,) = (entry for entry in example("pytorch-ddp") if entry["kind"] == "TrainingJob")
    manifest["metadata"]["name"] = name
    wrapped_container(manifest)["command"] = command
    checkpoints = f"/checkpoints/{name}"
    add_environment(manifest, {"CHECKPOINT_DIRECTORY": checkpoints, **env})
    patience = {"health": {"stall": {"minSeconds": TORCH_STALL_SECONDS}}}
    merge(manifest["spec"], {"checkpoint": {"directory": checkpoints}, **patience, **size})
    spread_over_nodes(manifest, name)
    return manifest


def meeting(name: str) -> Fields:
    """A job on the network of a node, whose ranks say at which port they meet, and stay there for a while."""
    script = "import os, time; print('port', os.environ['MASTER_PORT'], flush=True); time.sleep(20)"
    command = ["bash", "-c", f'echo "{script}" > /tmp/meet.py && {" ".join(TORCHRUN)} /tmp/meet.py']
    container = {"name": "train", "image": PYTORCH_IMAGE, "imagePullPolicy": "Never", "command": command}
    pod = {"hostNetwork": True, "nodeSelector": {"kubernetes.io/hostname": NODE}, "containers": [container]}
    return {
        "apiVersion": "hedgerow.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": name},
        "spec": {"workers": 1, "ranksPerWorker": 2, "kubernetes": {"template": {"spec": pod}}},
    }


def kill_an_agent(job: Job) -> set[int]:
    """Once the job trains, kill torchrun itself on one node; returns the ranks that were alive then, by process."""
    # The status tells of steps only now and then.
    saved = job.cluster.site.work / "volumes" / job.namespace / job.name / "checkpoint-000010.pt"
    job.wait("to save step 10", lambda _: saved.exists(), SECONDS)
    orphans = {found.pid for found in job.ranks}
    os.kill(agents(job)[0], signal.SIGKILL)
    return orphans


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

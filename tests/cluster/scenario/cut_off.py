"""Networks that keep workers from being heard: a policy that forbids them to speak, and a proxy that they are told of.

The network of the test cluster enforces no NetworkPolicy, so what a policy would drop is dropped here: in the network
namespace of each pod, before its launcher begins.
"""

import subprocess
from pathlib import Path

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, all_on, as_text, merge, quickstart, wrapped_container
from tests.cluster.scenario.operators import NODE

SECONDS = 150
NOBODY = "http://192.0.2.1:3128"  # RFC 5737: nobody answers there
PROXY = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"), NOBODY)
SHORT = {**NO_FAULTS, "STEPS": "12"}
MARK = "WAITS_TO_BE_CUT_OFF"
DENY_ALL = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny-egress"},
    "spec": {"podSelector": {}, "policyTypes": ["Egress"]},
}
# One process, which is there until it is let go.
WAIT = "import os, time\nwhile not os.path.exists('/checkpoints/go'): time.sleep(0.1)"
NOT_TO_ITSELF = ("OUTPUT", "!", "--out-interface", "lo", "--jump", "DROP")


def short_job(name: str, env: dict[str, str]) -> Fields:
    """A job of few steps on one node, which needs little room there."""
    job = all_on(NODE, quickstart(name, env={**SHORT, **env}, spec={"ranksPerWorker": 1}))
    merge(wrapped_container(job), {"resources": {"requests": {"cpu": "10m"}}})
    return job


def cut_off(job: Job) -> None:
    """Cut each of its pods off, and let them begin."""
    job.cluster.kubectl("-n", job.namespace, "apply", "-f", "-", stdin=as_text(DENY_ALL))
    for process in job.wait("to wait in every pod", lambda _: len(networks()) == 2 and networks(), SECONDS):
        in_network(process, "--insert")
    (job.cluster.site.work / "volumes" / job.namespace / "go").touch()


def reconnect(job: Job) -> None:
    """Let each of its pods speak again."""
    # The oldest process of a pod is its launcher, which stays.
    oldest_last = sorted(launchers(job), reverse=True)
    by_network = {Path(f"/proc/{process}/ns/net").readlink(): process for process in oldest_last}
    for process in by_network.values():
        in_network(process, "--delete")


def waiting(job: Fields) -> Fields:
    """The job, whose pods wait after their init containers until they are let go."""
    container = wrapped_container(job)
    job["spec"]["kubernetes"]["template"]["spec"]["initContainers"] = [
        {
            "name": "wait",
            "image": container["image"],
            "imagePullPolicy": "Never",
            "command": ["python3", "-c", WAIT],
            "env": [{"name": MARK, "value": "yes"}],
            "securityContext": container["securityContext"],
            "volumeMounts": container["volumeMounts"],
        }
    ]
    return job


def networks() -> list[int]:
    """A process in the network namespace of each pod that waits."""
    mark = f"{MARK}=yes".encode()
    by_network = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                by_network[(folder / "ns" / "net").readlink()] = int(folder.name)
        except OSError:
            continue
    return list(by_network.values())


def in_network(process: int, action: str) -> None:
    command = ["nsenter", "--target", str(process), "--net", "iptables", "--wait", action, *NOT_TO_ITSELF]
    subprocess.run(command, check=True)


def launchers(job: Job) -> list[int]:
    """A process of each of the job's pods."""
    uid = f"HEDGEROW_JOB_UID={job.uid}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if uid in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found

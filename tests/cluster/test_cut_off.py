"""Networks that keep workers from being heard: a policy that forbids them to speak, and a proxy that they are told of.

The network of the test cluster enforces no NetworkPolicy, so the test drops what a policy would: in the network
namespace of each pod, before its launcher begins.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, as_text, quickstart, wrapped_container
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.testbed.cluster import Cluster

SECONDS = 150
URL = "http://hedgerow.hedgerow-system.svc:8080"
NOBODY = "http://192.0.2.1:3128"  # RFC 5737: nobody answers there
PROXY = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"), NOBODY)
MARK = "WAITS_TO_BE_CUT_OFF"
DENY_ALL = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny-egress"},
    "spec": {"podSelector": {}, "policyTypes": ["Egress"]},
}
NOT_TO_ITSELF = ("OUTPUT", "!", "--out-interface", "lo", "--jump", "DROP")


def waiting(job: Fields) -> Fields:
    """The job, whose pods wait after their init containers until they are let go."""
    container = wrapped_container(job)
    job["spec"]["kubernetes"]["template"]["spec"]["initContainers"] = [
        {
            "name": "wait",
            "image": container["image"],
            "imagePullPolicy": "Never",
            "command": ["sh", "-c", "until [ -e /checkpoints/go ]; do sleep 0.1; done"],
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


@pytest.fixture(scope="module")
def jobs(cluster: Cluster, operator: InstalledOperator) -> Iterator[dict[str, Job]]:
    """One job that is cut off, one that is told of a proxy."""
    del operator  # must be there
    short = {**NO_FAULTS, "STEPS": "12"}
    with restricted_namespace(cluster) as namespace:
        cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=as_text(DENY_ALL))
        cut = Job.apply(cluster, namespace, waiting(quickstart("cut", env=short)))
        proxied = Job.apply(cluster, namespace, quickstart("proxied", env={**short, **PROXY}))
        for process in cut.wait("to wait in every pod", lambda _: len(networks()) == 2 and networks(), SECONDS):
            in_network(process, "--insert")
        (cluster.site.work / "volumes" / namespace / "go").touch()
        yield {"cut": cut, "proxied": proxied}


def test_reports_pass_by_a_proxy_that_the_pod_is_told_of(jobs: dict[str, Job]) -> None:
    status = jobs["proxied"].wait_state("Succeeded")
    assert (status["restarts"], status["step"]) == (0, 12)


def told(job: Job) -> Fields:
    """The condition Running, once it tells of both workers."""
    running = job.condition("Running")
    return running if running.get("message", "").startswith("workers 0 and 1 run ") else {}


def test_workers_that_a_policy_keeps_from_speaking_are_told_of_with_the_usual_causes(jobs: dict[str, Job]) -> None:
    running = jobs["cut"].wait("to tell", told, SECONDS)
    assert (running["status"], running["reason"]) == ("False", "NoReports")
    assert running["message"].startswith(f"workers 0 and 1 run but have never reported to {URL}; usual causes: ")
    assert "a network policy that forbids egress" in running["message"]


def test_once_they_may_speak_the_job_trains_and_nothing_was_restarted(jobs: dict[str, Job]) -> None:
    job = jobs["cut"]
    job.wait("to tell", told, SECONDS)
    by_network = {Path(f"/proc/{process}/ns/net").readlink(): process for process in launchers(job)}
    for process in by_network.values():
        in_network(process, "--delete")
    status = job.wait_state("Succeeded")
    assert (status["restarts"], status["attempt"], status["step"]) == (0, 1, 12)

"""A job on a node that somebody else speaks against: it goes on until a rank stands still there."""

import os
import signal
from typing import NamedTuple

from tests.cluster.scenario import node_marks
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, quickstart
from tests.cluster.testbed.cluster import Cluster

CONDITION = "GpuUnhealthy"


class Signalled(NamedTuple):
    """What was seen. bad: the node with the condition. went_on: the attempt after it had been set for some steps."""

    bad: str
    went_on: int
    incident: Fields
    status: Fields
    nodes: set[str]
    story: str


def signalled(cluster: Cluster, place: str) -> Signalled:
    """Let it happen; afterwards the node is as it was, and the job deleted."""
    spec = {"health": {"nodeSignals": [{"conditionType": CONDITION}]}}
    job = Job.apply(cluster, place, quickstart("signalled", spec=spec, env={**NO_FAULTS, "STEPS": "2000"}))
    job.wait_saved(10)
    (victim,) = (found for found in job.ranks if found.rank == 2)
    bad = job.node_of(victim.worker)
    node_marks.say(cluster, bad, CONDITION, "True")
    try:
        step = job.wait("to tell its step", lambda job: job.status.get("step"))
        job.wait("to train on", lambda job: job.status.get("step", 0) > step + 10)
        went_on = job.status["attempt"]
        os.kill(victim.pid, signal.SIGSTOP)
        incident = job.wait("to be found to stand over hardware", Job.hardware_fault)
        job.wait("to train again", lambda job: job.status["attempt"] == 2 and job.status["state"] == "Running")
        nodes = {pod["spec"]["nodeName"] for pod in job.pods()}
        return Signalled(bad, went_on, incident, job.status, nodes, job.story())
    finally:
        node_marks.say(cluster, bad, CONDITION, "False")
        job.delete()

"""A shell in a cluster with Hedgerow installed by its chart: the place to try things."""

import os
import subprocess

from tests.cluster.scenario.places import offer
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.progress import say, step


def main() -> int:
    """Start a cluster, install Hedgerow, and give the terminal to a shell; returns the shell's exit status."""
    with step("starting the cluster"):
        cluster = Cluster.start()
    try:
        _install(cluster)
        say("KUBECONFIG is set; kubectl and helm are on PATH. Leaving the shell ends the cluster.")
        say(f"the quickstart with images and storage of this cluster: kubectl apply -f {offer(cluster)}")
        environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
        return subprocess.run([os.environ.get("SHELL", "/bin/bash")], env=environment, check=False).returncode
    finally:
        cluster.stop()


def _install(cluster: Cluster) -> None:
    """Install Hedgerow; where that fails the shell is the place to find out why."""
    try:
        with step(f"installing Hedgerow into the namespace {hedgerow.NAMESPACE}"):
            hedgerow.install(cluster)
    except ClusterError as error:
        say(f"Hedgerow could not be installed: {error}")

"""A shell in a cluster with Hedgerow installed by its chart: the place to try things."""

import os
import subprocess

from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.paths import REPOSITORY
from tests.cluster.testbed.progress import say, step

CHART = REPOSITORY / "charts" / "hedgerow"


def main() -> int:
    """Start a cluster, install Hedgerow, and give the terminal to a shell; returns the shell's exit status."""
    with step("starting the cluster"):
        cluster = Cluster.start()
    try:
        say("KUBECONFIG is set; kubectl and helm are on PATH. Leaving the shell ends the cluster.")
        environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
        return subprocess.run([os.environ.get("SHELL", "/bin/bash")], env=environment, check=False).returncode
    finally:
        cluster.stop()

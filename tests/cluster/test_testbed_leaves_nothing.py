"""A run of the cluster ends with everything that it made, however it ends; and two runs do not meet."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.testbed import cgroups, processes, runs
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.paths import REPOSITORY
from tests.cluster.testbed.prepared import Prepared, cgroup_of
from tests.cluster.testbed.waiting import wait_for

# A second cluster of one node, with a pod on it; says so, and waits for its standard input to be closed.
SECOND_CLUSTER = """
import sys
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import PAUSE_IMAGE
cluster = Cluster.start(nodes=1)
cluster.kubectl("run", "pod", "--image", PAUSE_IMAGE, "--image-pull-policy=Never")
cluster.kubectl("wait", "--for=condition=Ready", "pod/pod", "--timeout=30s")
print(cluster.site.work.parent, flush=True)
sys.stdin.read()
cluster.stop()
"""


@contextmanager
def second_cluster() -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A run beside the shared one: its outermost process, and its folder."""
    command = [sys.executable, "-m", "tests.cluster.testbed", "run", "--no-operator", "--"]
    process = subprocess.Popen(
        [*command, sys.executable, "-c", SECOND_CLUSTER],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        folder = process.stdout.readline().strip()
        assert folder, "the second cluster did not start"
        yield process, Path(folder)
    process.wait(30)


def traces(folder: Path) -> list[str]:
    """What is left of a run: folders, control groups and processes."""
    groups = [tree.group(cgroup_of(folder)) for tree in cgroups.trees()]
    left = [str(path) for path in (folder, *groups) if path.exists()]
    pids = [int(entry.name) for entry in processes.PROC.iterdir() if entry.name.isdigit()]
    return left + [f"process {pid}" for pid in pids if folder.name in processes.command_line(pid)]


@pytest.mark.parametrize("ending", ["its command ends", "its outermost process is killed"])
def test_nothing_of_a_second_cluster_is_left_when(ending: str, cluster: Cluster) -> None:
    with second_cluster() as (process, folder):
        assert folder != Prepared.load().folder
        assert len([trace for trace in traces(folder) if trace.startswith("process")]) > len(cluster.daemons)
        if ending == "its outermost process is killed":
            os.kill(process.pid, 9)
    wait_for("every trace of the run to go", lambda: not traces(folder), timeout=30)
    assert cluster.api.ready()
    assert all(cluster.node_ready(node.name) for node in cluster.nodes)


def test_what_a_run_left_whose_machine_lost_power_goes_with_the_next_start() -> None:
    folder, lock = runs.create()
    cgroups.create(f"{cgroup_of(folder)}/node1/k8s.io/container")
    runs.remove_leftovers()
    assert folder.exists(), "a run that lives was taken for a leftover"
    os.close(lock)
    runs.remove_leftovers()
    assert traces(folder) == []

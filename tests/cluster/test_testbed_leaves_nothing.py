"""A run of the cluster ends with everything that it made, however it ends; and two runs do not meet."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.testbed import cgroups, hedgerow, processes, runs
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.paths import REPOSITORY
from tests.cluster.testbed.prepared import VARIABLE, Prepared, cgroup_of
from tests.cluster.testbed.waiting import wait_for

TESTBED = [sys.executable, "-m", "tests.cluster.testbed"]
# A second cluster of one node, with a pod on it; says where it is, and waits for its standard input to be closed.
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
RUN = [*TESTBED, "run", "--no-operator", "--", sys.executable, "-c", SECOND_CLUSTER]
SHELL = [*TESTBED, "shell"]
# What a user of the shell may type; the last line comes when all else is said.
TYPED = f"""
kubectl get crd trainingjobs.hedgerow.dev --output=name
kubectl -n {hedgerow.NAMESPACE} get deployment {hedgerow.RELEASE} --output='jsonpath={{.status.readyReplicas}}{{"\\n"}}'
helm list --all-namespaces --short
echo ${VARIABLE}
"""


@contextmanager
def beside(
    command: list[str], typed: str = "", says: int = 0
) -> Iterator[tuple["subprocess.Popen[str]", Path, list[str]]]:
    """A run beside the shared one: its outermost process, its folder, and the lines that it has said before that."""
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "SHELL": "/bin/bash"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(typed)
        process.stdin.flush()
        said = [process.stdout.readline().strip() for _ in range(says)]
        folder = process.stdout.readline().strip()
        assert folder, "the second cluster did not start"
        yield process, Path(folder), said
    process.wait(30)


def traces(folder: Path) -> list[str]:
    """What is left of a run: folders, control groups and processes."""
    groups = [tree.group(cgroup_of(folder)) for tree in cgroups.trees()]
    left = [str(path) for path in (folder, *groups) if path.exists()]
    pids = [int(entry.name) for entry in processes.PROC.iterdir() if entry.name.isdigit()]
    return left + [f"process {pid}" for pid in pids if folder.name in processes.command_line(pid)]


def test_the_shell_of_a_second_cluster_has_hedgerow_and_leaves_nothing(cluster: Cluster) -> None:
    with beside(SHELL, TYPED, says=3) as (_, folder, said):
        assert said == [
            "customresourcedefinition.apiextensions.k8s.io/trainingjobs.hedgerow.dev",
            "1",
            hedgerow.RELEASE,
        ]
        check_that_it_runs(folder, cluster)
    check_that_nothing_is_left(folder, cluster)


def test_a_second_cluster_whose_outermost_process_is_killed_leaves_nothing(cluster: Cluster) -> None:
    with beside(RUN) as (process, folder, _):
        check_that_it_runs(folder, cluster)
        os.kill(process.pid, 9)
    check_that_nothing_is_left(folder, cluster)


def check_that_it_runs(folder: Path, cluster: Cluster) -> None:
    """It is another one, and its processes are found by what is looked for after its end."""
    assert folder != Prepared.load().folder
    assert len([trace for trace in traces(folder) if trace.startswith("process")]) > len(cluster.daemons)


def check_that_nothing_is_left(folder: Path, cluster: Cluster) -> None:
    """Nothing of it, and the shared cluster is as it was."""
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

"""The testbed is a real Slurm, breaks on request, heals, and leaves nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.testbed import processes
from tests.slurm.testbed import requirements
from tests.slurm.testbed.configuration import NODES
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.testbed.waiting import wait_for

HOLDS_ONE = """
from tests.slurm.testbed.testbed import Testbed
testbed = Testbed.start()
testbed.run("sbatch --nodes=4 --wrap='srun setsid sleep 1000'")
print(testbed.places.root, *testbed._namespace.processes(), flush=True)
input()
"""


def states(testbed: Testbed) -> list[str]:
    """What Slurm says of each node."""
    return testbed.run("sinfo --noheader --Node --format=%T").split()


def running_on_all_nodes(testbed: Testbed) -> str:
    """The id of a job that sleeps in one rank on each node."""
    job = testbed.run("sbatch --parsable --nodes=4 --output=/dev/null --wrap='srun sleep 1000'")
    wait_for("four ranks", lambda: len(testbed.processes_of(SLURM_JOB_ID=job, SLURM_STEP_ID="0")) >= len(NODES))
    return job


def test_a_job_runs_on_four_nodes_with_eight_gpus_each(fresh_slurm: Testbed) -> None:
    script = "srun printenv SLURMD_NODENAME CUDA_VISIBLE_DEVICES"
    fresh_slurm.run(["sbatch", "--wait", "--nodes=4", "--gres=gpu:8", "--output=four", f"--wrap={script}"])
    shown = sorted((fresh_slurm.jobs / "four").read_text().splitlines())
    assert shown == ["0,1,2,3,4,5,6,7"] * 4 + ["n1", "n2", "n3", "n4"]


def test_what_really_runs_of_a_job_is_counted(fresh_slurm: Testbed) -> None:
    job = running_on_all_nodes(fresh_slurm)
    assert len(fresh_slurm.processes_of(SLURM_JOB_ID=job, SLURMD_NODENAME="n3", SLURM_STEP_ID="0")) == 1
    fresh_slurm.run(f"scancel {job}")
    wait_for("its end", lambda: not fresh_slurm.processes_of(SLURM_JOB_ID=job))


def test_the_ranks_of_a_killed_slurmd_live_on_and_healing_ends_them(fresh_slurm: Testbed) -> None:
    job = running_on_all_nodes(fresh_slurm)
    fresh_slurm.kill("slurmd.n3")
    assert fresh_slurm.processes_of(SLURM_JOB_ID=job, SLURMD_NODENAME="n3")
    fresh_slurm.heal()
    assert not fresh_slurm.processes_of(SLURM_JOB_ID=job)
    assert states(fresh_slurm) == ["idle"] * 4


def test_nothing_of_a_killed_node_lives(fresh_slurm: Testbed) -> None:
    job = running_on_all_nodes(fresh_slurm)
    fresh_slurm.kill_node("n3")
    assert not fresh_slurm.processes_of(SLURM_JOB_ID=job, SLURMD_NODENAME="n3")
    assert fresh_slurm.processes_of(SLURM_JOB_ID=job, SLURMD_NODENAME="n2")


@pytest.mark.parametrize("name", ["munged", "slurmctld", "slurmrestd", "slurmd.n2"])
def test_a_daemon_that_is_killed_or_frozen_comes_back(fresh_slurm: Testbed, name: str) -> None:
    before = fresh_slurm.daemon(name).pid
    fresh_slurm.freeze(name)
    assert processes.state(before) == "T"
    fresh_slurm.kill(name)
    assert not fresh_slurm.daemon(name).running
    fresh_slurm.heal()
    assert fresh_slurm.daemon(name).pid != before
    assert states(fresh_slurm) == ["idle"] * 4


def test_healing_resumes_nodes_and_ends_jobs(fresh_slurm: Testbed) -> None:
    job = running_on_all_nodes(fresh_slurm)
    held = fresh_slurm.run("sbatch --parsable --hold --wrap=true")
    fresh_slurm.run("scontrol update nodename=n2 state=drain reason=broken")
    fresh_slurm.heal()
    assert states(fresh_slurm) == ["idle"] * 4
    assert fresh_slurm.run("squeue --noheader --format=%A") == ""
    ended = fresh_slurm.run(f"squeue --noheader --states=all --jobs={job},{held} --format=%T").split()
    assert ended == ["CANCELLED"] * 2


def test_a_second_cluster_beside_it_knows_nothing_of_it_and_takes_other_settings(fresh_slurm: Testbed) -> None:
    running_on_all_nodes(fresh_slurm)
    other = Testbed.start(MinJobAge="2")
    try:
        assert other.run("squeue --noheader") == ""
        assert "= 2 sec" in other.run("scontrol show config | grep MinJobAge")
        assert states(other) == ["idle"] * 4
    finally:
        other.close()
    assert not other.places.root.exists()


def test_nothing_is_left_of_a_run_that_was_killed(root: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", HOLDS_ONE], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    folder, *pids = run.stdout.readline().split()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    wait_for("every process to end", lambda: not any(processes.alive(int(pid)) for pid in pids))
    wait_for("its folder to go", lambda: not Path(folder).exists())
    assert len(pids) > len(NODES)


def test_without_root_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    sentence = "The Slurm testbed needs root (slurmd and munged run as different users): run this as root."
    assert requirements.missing() == sentence


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(requirements.PROGRAMS, "no-such-daemon", "some-package")
    assert requirements.missing() == (
        "The Slurm testbed needs Debian packages that are not installed: apt-get install some-package."
    )

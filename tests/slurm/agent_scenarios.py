"""A node agent on a node of Slurm: what it says against a GPU there is believed, acted on at once, and told."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from hedgerow_operator.api import reasons
from tests.slurm.operator_scenarios import played
from tests.slurm.slurm_run import SlurmRun
from tests.slurm.small_agents import AGENTS_TOKEN
from tests.slurm.small_operator import SmallOperator

# Hangs at step 9, in every attempt, whichever rank is on n3.
HANGS_ON_N3 = '[ "$SLURMD_NODENAME" = n3 ] && export HANG_RANK=$RANK HANG_STEP=9 FAULTY_ATTEMPT=$HEDGEROW_ATTEMPT'
_LOST = {
    "gpus": [{"profile": "a100", "count": 1, "processes": "ranks"}],
    "script": [{"at": 1, "kernel": "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."}],
}


@contextlib.contextmanager
def agent(folder: Path, *options: str, node: str = "n3") -> Iterator[subprocess.Popen[bytes]]:
    """The agent of a node whose GPU falls off the bus in a moment."""
    file = folder / f"gpus-{node}.json"
    file.write_text(json.dumps(_LOST))
    words = [sys.executable, "-m", "hedgerow_agent", "--devices", f"fake:{file}", *options]
    with (
        (folder / f"agent-{node}.log").open("wb") as log,
        subprocess.Popen(
            words, env={"PATH": "/usr/bin:/bin", "SLURMD_NODENAME": node}, stdout=log, stderr=log
        ) as started,
    ):
        try:
            yield started
        finally:
            started.kill()


def without_a_node_whose_agent_says_that_its_gpu_is_lost(run: SlurmRun) -> None:
    run.write(lines=_once_heard(run)).start()
    run.until("its ranks to run", lambda: len(run.ranks()) == 3)
    token = run.state / "agents.token"
    assert token.stat().st_mode & 0o777 == 0o600
    options = ("--address-file", str(run.state / "address"), "--token-file", str(token), "--report-seconds", "1")
    news = run.state / "hedgerow.log"
    with agent(run.folder, *options):
        run.until("the agent to be believed", lambda: "node n3: new attempts avoid this node" in news.read_text())
        (run.folder / "heard").touch()
        code, output = run.end()
    assert code == 0, output + run.logs() + (run.folder / "agent-n3.log").read_text()
    assert "node n3: new attempts avoid this node" in output
    job = run.job()
    assert job is not None
    (first,) = job.status.history
    assert (first.placement, first.reason) == (1, reasons.HARDWARE_FAULT), first
    assert first.message.startswith("GPU 0 of node n3 (GPU-")
    assert "which rank 2 uses, failed: Xid 79" in first.message
    assert (run.nodes_of(1), run.nodes_of(2)) == ({"n1", "n2", "n3"}, {"n1", "n2", "n4"})


def _once_heard(run: SlurmRun) -> str:
    """The same, but no rank trains before the test has heard of the fault."""
    return f"{HANGS_ON_N3}\n      until [ -e {run.folder}/heard ]; do sleep 0.1; done"


def _shown(run: SlurmRun, node: str) -> str:
    return run.testbed.run(f"sinfo --noheader --nodes={node} --format='%T %E'")


@played
async def through_slurmrestd_without_a_node_whose_agent_says_that_its_gpu_is_lost_and_which_is_drained(
    run: SlurmRun,
) -> None:
    token = run.folder / "agents.token"
    token.write_text(f"{AGENTS_TOKEN}\n")
    async with SmallOperator(run.testbed, run.folder / "operator", lines=_once_heard(run)).running() as operator:
        await operator.until("training", lambda: operator.reason("Running"))
        options = ("--report-url", operator.url, "--token-file", str(token), "--report-seconds", "1")
        with agent(run.folder, *options), agent(run.folder, *options, node="m1") as stranger:
            await operator.until("the fault", lambda: operator.agents.events)
            (run.folder / "heard").touch()
            await operator.until("success", lambda: operator.reason("Succeeded"))
            await operator.until("the drain", lambda: _shown(run, "n3").startswith("drained hedgerow: Xid79 "))
            await operator.until("the refusal", lambda: "has no node m1" in (run.folder / "agent-m1.log").read_text())
            assert stranger.poll() is None
        assert {node for node, _ in operator.agents.events} == {"n3"}
        (first,) = operator.status.history
        assert (first.placement, first.reason, first.node) == (1, reasons.HARDWARE_FAULT, "n3")
        assert operator.status.slurm is not None
        assert operator.status.slurm.nodes == "n[1-2,4]"

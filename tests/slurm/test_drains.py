"""Drains on a real Slurm: what runs goes on, ours is undone, an administrator's stays."""

from collections.abc import Iterable

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.cli.session import SoleLeader
from hedgerow_operator.core.nodes.taints import TaintRules
from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.reconcile.slurm_drains import Drainable, Draining
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.testbed.waiting import wait_for

BAD = Quarantine(reason="Xid79", message="GPU 3 has fallen off the bus", since="2027-01-01T00:00:00Z")


class Cluster:
    """The testbed as the only cluster that allows it."""

    def __init__(self, testbed: Testbed) -> None:
        self._driver = CliDriver(testbed.environment)

    async def drainable(self) -> Iterable[tuple[JobKey, Drainable]]:
        return [(JobKey("ml", "hpc"), self._driver)]


async def test_a_bad_node_takes_nothing_new_until_it_is_well_and_an_administrators_drain_stays(
    fresh_slurm: Testbed,
) -> None:
    def shown(node: str) -> str:
        return fresh_slurm.run(f"sinfo --noheader --nodes={node} --format='%T %E'")

    def state_of(job: str) -> str:
        return fresh_slurm.run(f"squeue --noheader --jobs={job} --format=%T")

    quarantines = {"n2": BAD, "n3": BAD}
    told: list[str] = []
    draining = Draining(
        Cluster(fresh_slurm), lambda: quarantines, SoleLeader(), lambda key, text: told.append(text),
        TaintRules(max_percent=50),
    )  # fmt: skip
    fresh_slurm.run("scontrol update nodename=n3 state=drain reason=maintenance")
    job = fresh_slurm.run("sbatch --parsable --nodelist=n2 --output=/dev/null --wrap='srun sleep 1000'")
    wait_for("the job to run", lambda: state_of(job) == "RUNNING")
    await draining.look()
    assert shown("n2") == "draining hedgerow: Xid79 GPU 3 has fallen off the bus"
    assert state_of(job) == "RUNNING"
    quarantines.clear()
    await draining.look()
    assert shown("n2").split()[0].rstrip("*") in ("mixed", "allocated")
    assert shown("n3") == "drained maintenance"
    assert told == []

"""Placements as steps of one batch job: what is started, what is seen, and when it counts as gone."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from hedgerow.wire import JobRef, Report
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.adapters.slurm.steps.commands import StepCommands
from hedgerow_operator.adapters.slurm.steps.desk import Call
from hedgerow_operator.adapters.slurm.steps.runtime import Allocation, StepRuntime
from hedgerow_operator.api import reasons
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.cli.slurm.own_options import manifest
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_PENDING, WORKER_RUNNING
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode
from hedgerow_operator.reconcile.ports import JobKey, Unreachable

KEY, UID = JobKey("default", "train"), "u1"


class Nodes:
    """A driver that knows nodes only."""

    def __init__(self) -> None:
        self.silent: set[str] = set()

    async def nodes(self) -> Sequence[SlurmNode]:
        """All four."""
        flags = {True: frozenset({"NOT_RESPONDING"}), False: frozenset[str]()}
        return [SlurmNode(name=f"n{n}", state="DOWN", flags=flags[f"n{n}" in self.silent]) for n in range(1, 5)]


class Commands:
    """Slurm's commands about steps."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.signalled: list[tuple[tuple[str, ...], str]] = []

    async def live_steps(self) -> frozenset[str]:
        """Those that run."""
        return frozenset(self.alive)

    def signal_steps(self, steps: Sequence[str], name: str) -> None:
        """Write it down."""
        self.signalled.append((tuple(steps), name))


class Said:
    """What a call of srun is told."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def is_closing(self) -> bool:
        """Never."""
        return False

    def write(self, data: bytes) -> None:
        """One message."""
        self.messages.append(msgspec.json.decode(data))


class Scene:
    """A runtime, and one srun of the script."""

    def __init__(self, folder: Path, job_id: str = "7", nodes: tuple[str, ...] = ("n1", "n2")) -> None:
        self.driver, self.commands, self.said = Nodes(), Commands(), Said()
        self.call = Call(("python", "train.py"), ("-N2", "python", "train.py"), cast("Any", self.said))
        self.call.uid = UID
        self.handed_over: list[tuple[str, ...]] = []
        self.follows = True
        self.over = ""
        self.before: dict[str, SlurmJob] = {}
        self.runtime = StepRuntime(
            paths=StatePaths(folder),
            allocation=Allocation(job_id, job_id, nodes),
            commands=cast("StepCommands", self.commands),
            view=ClusterView(cast("Driver", self.driver), stopwatch=iter(range(0, 10_000, 100)).__next__),
            variables=lambda key, uid, attempt: {"PLACEMENT": str(attempt)},
            before=self.before,
            why_over=self._why_over,
            hand_over=self._hand_over,
            on_change=lambda key: None,
            clock=lambda: 1000.0,
        )

    async def _why_over(self) -> str:
        return self.over

    async def _hand_over(self, key: JobKey, nodes: Sequence[str]) -> bool:
        self.handed_over.append(tuple(nodes))
        return self.follows

    def started(self) -> None:
        """Its srun has begun."""
        self.call.note({"started": {"pid": 5, "watched": True}})

    def ended(self, code: int) -> None:
        """Its srun has ended."""
        self.call.note({"ended": {"code": code, "by_user": False}})

    def heard(self, placement: int = 1) -> None:
        """Both launchers have reported."""
        for worker, node in enumerate(("n1", "n2")):
            self.runtime.heard(KEY, report(worker, node, placement))

    async def seen(self, placement: int = 1) -> Any:
        """The only placement; None: there is none."""
        found = await self.runtime.placements(job(placement))
        assert len(found) <= 1
        return found[0] if found else None


def report(worker: int, node: str, placement: int = 1) -> Report:
    """Of one launcher."""
    return Report(
        JobRef(UID, "default", "train"),
        placement,
        worker,
        2,
        1,
        "b",
        "l",
        1,
        0.0,
        0.0,
        "Running",
        node=node,
        step="7.0",
    )


def job(placement: int = 1, step: int | None = 5) -> TrainingJob:
    """The job as it is stored."""
    made = training_job(manifest("train", "srun", 2, 1, {}))
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, uid=UID),
        status=msgspec.structs.replace(made.status, placement=placement, step=step),
    )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.runtime.begin(KEY, made.call)
    made.started()
    made.heard()
    return made


async def test_a_call_that_nothing_is_known_of_is_started_at_once(scene: Scene) -> None:
    assert scene.said.messages == [{"start": {"variables": {"PLACEMENT": "1"}, "options": []}}]
    assert [worker.node for worker in (await scene.seen()).workers] == ["n1", "n2"]


async def test_before_the_first_decision_nothing_is_there_to_be_removed(scene: Scene) -> None:
    assert await scene.seen(placement=0) is None


async def test_creating_what_is_there_starts_nothing(scene: Scene) -> None:
    await scene.runtime.create(job(), 1, ())
    assert len(scene.said.messages) == 1


async def test_the_launchers_are_asked_to_end_and_it_is_gone_once_no_task_of_it_runs(scene: Scene) -> None:
    scene.commands.alive = {"7.0"}
    await scene.runtime.remove(job(), 1, ())
    assert scene.commands.signalled == [(("7.0",), "TERM")]
    assert (await scene.seen()).removing
    scene.ended(143)
    assert {worker.phase for worker in (await scene.seen()).workers} == {WORKER_RUNNING}
    scene.commands.alive = set()
    assert await scene.seen() is None


async def test_an_srun_that_has_not_said_its_step_is_signalled_itself(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.runtime.begin(KEY, scene.call)
    scene.started()
    await scene.runtime.remove(job(), 1, ())
    assert scene.said.messages[-1] == {"signal": int(signal.SIGTERM)}


async def test_an_srun_that_ends_by_itself_has_failed(scene: Scene) -> None:
    scene.ended(3)
    seen = await scene.seen()
    assert (seen.ended, {worker.phase for worker in seen.workers}) == (WORKER_FAILED, {WORKER_FAILED})


async def test_a_new_placement_is_the_same_srun_again(scene: Scene) -> None:
    await scene.runtime.remove(job(), 1, ())
    scene.ended(143)
    assert await scene.seen() is None
    await scene.runtime.create(job(), 2, ("n4",))
    assert scene.said.messages[-1] == {"start": {"variables": {"PLACEMENT": "2"}, "options": []}}


async def test_with_nodes_to_spare_it_avoids_one_within_the_batch_job(tmp_path: Path) -> None:
    scene = Scene(tmp_path, nodes=("n1", "n2", "n3"))
    scene.runtime.take(KEY, scene.call)
    await scene.runtime.create(job(), 2, ("n3",))
    assert scene.said.messages[-1]["start"]["options"] == ["--exclude=n3"]


async def test_with_too_few_nodes_left_the_next_batch_job_goes_on(scene: Scene) -> None:
    with pytest.raises(Unreachable, match="next batch job"):
        await scene.runtime.create(job(), 2, ("n2", "n9"))
    assert scene.handed_over == [("n2", "n9")]


async def test_where_none_follows_it_stays_on_the_nodes_that_there_are(scene: Scene) -> None:
    scene.follows = False
    await scene.runtime.create(job(), 2, ("n2",))
    assert scene.said.messages[-1]["start"] == {"variables": {"PLACEMENT": "2"}, "options": []}


async def test_once_the_batch_job_ends_nothing_is_started(scene: Scene) -> None:
    scene.runtime.closing = "it ends"
    with pytest.raises(Unreachable, match="it ends"):
        await scene.runtime.create(job(), 2, ())


async def test_once_the_batch_job_is_over_for_slurm_no_srun_is_started_again(scene: Scene) -> None:
    scene.started()
    scene.ended(1)
    before, scene.over = len(scene.said.messages), "Slurm job 7 has lost a node"
    with pytest.raises(Unreachable, match="has lost a node"):
        await scene.runtime.create(job(), 2, ())
    assert len(scene.said.messages) == before


async def test_when_the_batch_job_ends_in_order_its_placements_end_as_that_and_are_not_counted(scene: Scene) -> None:
    scene.runtime.closing, scene.runtime.cause = "the time limit is near", reasons.TIME_LIMIT_REACHED
    seen = await scene.seen()
    assert (seen.cause, seen.ended_reason, seen.ended) == (reasons.TIME_LIMIT_REACHED, "the time limit is near", "")


class TestFormer:
    """Placements of the batch job before."""

    @pytest.fixture
    def later(self, scene: Scene, tmp_path: Path) -> Scene:
        made = Scene(tmp_path, job_id="8", nodes=("n1", "n4"))
        made.before["7"] = SlurmJob(id="7", state="NODE_FAIL")
        return made

    async def test_with_its_nodes_answering_it_is_over_and_then_gone(self, later: Scene) -> None:
        assert (await later.seen()).ended == WORKER_FAILED
        await later.runtime.remove(job(), 1, ())
        assert await later.seen() is None

    @pytest.mark.parametrize(("step", "cause"), [(5, reasons.NODE_LOST), (None, reasons.REQUEUED)])
    async def test_what_had_made_no_step_has_not_failed_by_it(self, step: int | None, cause: str, later: Scene) -> None:
        (seen,) = await later.runtime.placements(job(step=step))
        assert (seen.ended, seen.cause) == (WORKER_FAILED, cause)

    async def test_on_a_node_that_is_silent_it_may_still_train(self, later: Scene) -> None:
        later.driver.silent = {"n2"}
        seen = await later.seen()
        assert (seen.cause, [worker.node_silent for worker in seen.workers]) == (reasons.NODE_LOST, [False, True])
        await later.runtime.remove(job(), 1, ())
        silent = [worker.name for worker in (await later.seen()).workers if worker.node_silent]
        await later.runtime.remove(job(), 1, tuple(silent))
        assert await later.seen() is None

    async def test_the_next_one_waits_for_the_script_to_come_to_its_srun(self, later: Scene) -> None:
        await later.runtime.remove(job(), 1, ())
        await later.seen()
        await later.runtime.create(job(2), 2, ())
        seen = await later.seen(2)
        assert {worker.phase for worker in seen.workers} == {WORKER_PENDING}
        later.runtime.take(KEY, later.call)
        assert later.said.messages == [{"start": {"variables": {"PLACEMENT": "2"}, "options": []}}]

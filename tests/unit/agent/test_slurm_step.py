"""A launcher under srun knows its place from the variables of its step, and says what does not fit."""

from __future__ import annotations

import pytest

from hedgerow.options import Options, Unwatchable, UsageError, parse
from hedgerow.slurm import step as steps
from hedgerow.slurm.rank_variables import own_gpus, rank_variables
from hedgerow.slurm.worker_ranks import ranks_of


def task(node: int, local: int, per_node: str, *, nodes: int = 2, rank: int = 0, ids: str = "") -> dict[str, str]:
    """Variables of a task of step 7.3."""
    return {
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_ID": "3",
        "SLURM_NODEID": str(node),
        "SLURM_LOCALID": str(local),
        "SLURM_PROCID": str(rank),
        "SLURM_STEP_NUM_NODES": str(nodes),
        "SLURM_STEP_TASKS_PER_NODE": per_node,
        "SLURM_GTIDS": ids,
        "SLURMD_NODENAME": f"n{node + 1}",
        "HEDGEROW_REPORT_URL": "http://127.0.0.1:1",
        "HEDGEROW_JOB_UID": "uid",
    }


LISTS = {
    "2": (2,),
    "2(x3)": (2, 2, 2),
    "2(x2),1": (2, 2, 1),
    "": (),
    "2(x": (),
    "2(x99999999),2(x99999999)": (),
    "-1": (),
}


@pytest.mark.parametrize(("text", "counts"), LISTS.items())
def test_tasks_per_node_are_read_as_slurm_writes_them(text: str, counts: tuple[int, ...]) -> None:
    assert steps.tasks_per_node(text) == counts


def options(variables: dict[str, str], *flags: str, command: tuple[str, ...] = ("train",)) -> Options:
    return parse([*flags, "--", *command], variables)


def test_one_launcher_a_node_is_the_worker_of_its_node() -> None:
    found = options({**task(1, 0, "1(x2)", rank=1), "HEDGEROW_NPROC": "4"})
    assert (found.worker, found.workers, found.nproc, found.node) == (1, 2, 4, "n2")
    assert found.step is not None
    assert found.step.name == "7.3"
    assert not found.per_task


def test_what_was_written_down_comes_before_the_step() -> None:
    found = options({**task(1, 0, "1(x2)", rank=1), "HEDGEROW_WORKERS": "5", "HEDGEROW_NODE": "mine"})
    assert (found.worker, found.workers, found.node) == (1, 5, "mine")
    found = options({**task(1, 0, "1(x2)", rank=1), "HEDGEROW_WORKER": "0"})
    assert (found.worker, found.workers, found.step) == (0, 1, None)


def test_one_launcher_a_rank_has_the_ranks_that_srun_starts_on_its_node() -> None:
    found = options(task(1, 1, "2(x2)", rank=3, ids="2,3"), "--slurm-launch", "per-task")
    assert (found.worker, found.workers, found.nproc, found.per_task) == (1, 2, 2, True)


def test_a_batch_script_is_no_step() -> None:
    variables = {name: value for name, value in task(0, 0, "1").items() if not name.startswith("SLURM_STEP")}
    assert options(variables).step is None


MISPLACED = {
    "several launchers would each start the ranks of the node": (
        task(0, 1, "2(x2)", rank=1), (), ("train",), "--ntasks=2 --ntasks-per-node=1"
    ),
    "nodes with another number of ranks": (
        task(0, 0, "2,1"), ("--slurm-launch", "per-task"), ("train",), "1 and 2 tasks"
    ),
    "ranks that are dealt out in turn": (
        task(0, 1, "2(x2)", rank=2, ids="0,2"), ("--slurm-launch", "per-task"), ("train",), "--distribution=block"
    ),
    "torchrun once for each rank": (
        task(0, 0, "2(x2)"), ("--slurm-launch", "PerTask"), ("torchrun", "train.py"), "launch: PerNode"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("variables", "flags", "command", "words"), MISPLACED.values(), ids=MISPLACED.keys())
def test_refused_with_a_sentence(
    variables: dict[str, str], flags: tuple[str, ...], command: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as error:
        options(variables, *flags, command=command)
    assert not isinstance(error.value, Unwatchable)


def test_left_alone_by_itself_is_only_what_was_to_be_decided_by_itself() -> None:
    with pytest.raises(Unwatchable, match="1 and 2 tasks"):
        options(task(0, 0, "2,1"), "--slurm-launch", "auto")
    with pytest.raises(Unwatchable, match="srun starts 2 tasks on this node"):
        options(task(0, 0, "2(x2)"), "--slurm-launch", "auto", command=("torchrun", "train.py"))
    with pytest.raises(Unwatchable):
        options({"HEDGEROW_REPORT_URL": "http://127.0.0.1:1", "HEDGEROW_JOB_UID": "uid"}, "--slurm-launch", "auto")


SIZES = {
    "one task that prepares the data": ("1", 1, ("prepare",), "1 tasks on 1 nodes, where the job has 2 workers of 3"),
    "as many nodes with fewer tasks": (
        "1(x2)",
        2,
        ("prepare",),
        "2 tasks on 2 nodes, where the job has 2 workers of 3",
    ),
    "the size of the job": ("3(x2)", 2, ("train",), None),
    "a launcher of ranks for each node": ("1(x2)", 2, ("torchrun", "train.py"), None),
}


@pytest.mark.parametrize(("per_node", "nodes", "command", "words"), SIZES.values(), ids=SIZES.keys())
def test_a_step_of_another_size_than_the_job_has_is_left_alone(
    per_node: str, nodes: int, command: tuple[str, ...], words: str | None
) -> None:
    variables = {**task(0, 0, per_node, nodes=nodes), "HEDGEROW_WORKERS": "2", "HEDGEROW_NPROC": "3"}
    if words is None:
        assert options(variables, "--slurm-launch", "auto", command=command).nproc == 3
        return
    with pytest.raises(Unwatchable, match=words):
        options(variables, "--slurm-launch", "auto", command=command)


def test_by_itself_a_program_is_one_rank_and_torchrun_one_worker() -> None:
    found = options(task(0, 0, "2(x2)", ids="0,1"), "--slurm-launch", "auto")
    assert (found.per_task, found.nproc, found.processes) == (True, 2, "per-rank")
    found = options(
        task(0, 0, "1(x2)"), "--slurm-launch", "auto", command=("torchrun", "--nproc_per_node=4", "train.py")
    )
    assert (found.per_task, found.nproc, found.processes, found.workers) == (False, 4, "per-worker", 2)


def test_ranks_of_a_node_are_told_what_srun_would_have_told_them() -> None:
    assert rank_variables(1, 3, 2, 1) == {
        "SLURM_PROCID": "3",
        "SLURM_LOCALID": "1",
        "SLURM_NODEID": "1",
        "SLURM_DISTRIBUTION": "block",
        "SLURM_GTIDS": "2,3",
        "SLURM_NTASKS": "6",
        "SLURM_NPROCS": "6",
        "SLURM_NTASKS_PER_NODE": "2",
        "SLURM_TASKS_PER_NODE": "2(x3)",
        "SLURM_STEP_NUM_TASKS": "6",
        "SLURM_STEP_TASKS_PER_NODE": "2(x3)",
    }


GPUS = {
    "each has its own": ("0,1", 2, 1, "1"),
    "each has several": ("4,5,6,7", 2, 1, "6,7"),
    "by their long names": ("GPU-a,GPU-b", 2, 0, "GPU-a"),
    "fewer than ranks": ("0", 2, 1, None),
    "none": ("", 2, 1, None),
}


@pytest.mark.parametrize(("given", "nproc", "local", "expected"), GPUS.values(), ids=GPUS.keys())
def test_gpus_are_dealt_out_in_order(given: str, nproc: int, local: int, expected: str | None) -> None:
    found = own_gpus({"CUDA_VISIBLE_DEVICES": given}, nproc, local)
    assert found == ({} if expected is None else {"CUDA_VISIBLE_DEVICES": expected})


RANKS = {
    "torchrun with =": ("torchrun --nproc_per_node=4 t.py", 4),
    "torchrun with a dash": ("torchrun --nproc-per-node 4 t.py", 4),
    "a module": ("python -m torch.distributed.run --nproc_per_node 3 t.py", 3),
    "all GPUs": ("torchrun --nproc_per_node=gpu t.py", 2),
    "a variable": ("torchrun --nproc_per_node=$PER_NODE t.py", 6),
    "accelerate counts all machines": ("accelerate launch --num_processes 8 --num_machines 2 t.py", 4),
    "deepspeed": ("deepspeed --num_gpus=5 t.py", 5),
    "nothing said": ("torchrun t.py", 2),
}


@pytest.mark.parametrize(("line", "count"), RANKS.values(), ids=RANKS.keys())
def test_ranks_of_a_launcher_of_ranks_are_read_from_its_arguments(line: str, count: int) -> None:
    variables = {"CUDA_VISIBLE_DEVICES": "0,1", "PER_NODE": "6"}
    assert ranks_of(line.split(), variables) == count
    assert ranks_of(["bash", "-c", f"cd /x && {line}"], variables) == count


def test_without_gpus_a_launcher_of_ranks_starts_one() -> None:
    assert ranks_of(["torchrun", "t.py"], {}) == 1
    assert ranks_of(["torchrun", "t.py"], {"SLURM_GPUS_ON_NODE": "8"}) == 8

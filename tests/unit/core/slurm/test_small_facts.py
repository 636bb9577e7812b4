"""Comments, nodes, refusals and room: what a word of Slurm means."""

import pytest

from hedgerow_operator.core.slurm.comments import comment_of, comment_of_run, read_comment
from hedgerow_operator.core.slurm.node_facts import FINE, GONE, SILENT, NodeFacts, node_facts
from hedgerow_operator.core.slurm.refusals import Refusal, kind_of
from hedgerow_operator.core.slurm.room import too_few
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode


def test_a_comment_tells_the_job_and_the_attempt() -> None:
    assert read_comment(comment_of("5a-1b", 12)) == ("5a-1b", 12)


def test_a_comment_that_tells_of_a_later_run_tells_the_first_attempt_too() -> None:
    assert read_comment(comment_of_run("5a-1b", 12, 2, 15)) == ("5a-1b", 12)


@pytest.mark.parametrize(
    "comment", ["", "hedgerow", "hedgerow::1", "hedgerow:a:b", "hedgerow:a:1:2", "hedgerow:a:1:2=b", "mine:a:1"]
)
def test_other_comments_are_nobodys(comment: str) -> None:
    assert read_comment(comment) is None


# State, flags, what that says of the node.
NODES: dict[str, tuple[str, set[str], NodeFacts]] = {
    "idle": ("IDLE", set(), FINE),
    "drained": ("IDLE", {"DRAIN"}, FINE),
    "called down by an administrator, and answering": ("DOWN", set(), FINE),
    "not answering for a moment": ("ALLOCATED", {"NOT_RESPONDING"}, SILENT),
    "down and silent": ("DOWN", {"NOT_RESPONDING"}, SILENT),
    "not heard yet": ("UNKNOWN", set(), SILENT),
    "switched off": ("IDLE", {"POWERED_DOWN"}, GONE),
}


@pytest.mark.parametrize("case", NODES)
def test_a_node_that_is(case: str) -> None:
    state, flags, facts = NODES[case]
    assert node_facts(SlurmNode(name="n1", state=state, flags=frozenset(flags))) == facts


REFUSALS: dict[str, tuple[str, bool, Refusal]] = {
    "no nodes without the excluded ones": (
        "sbatch: Requested node configuration is not available",
        True,
        Refusal.TOO_TIGHT,
    ),
    "no nodes at all": ("sbatch: Requested node configuration is not available", False, Refusal.FOR_GOOD),
    "a limit of a quality of service": (
        "Job violates accounting/QOS policy (job submit limit, …)",
        True,
        Refusal.PASSES,
    ),
    "a wrong account": ("Invalid account or account/partition combination specified", True, Refusal.FOR_GOOD),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_for(case: str) -> None:
    sentence, excludes, kind = REFUSALS[case]
    assert kind_of(sentence, excludes) is kind


# Flags by node, what is avoided, workers, whether that is too few.
ROOM: dict[str, tuple[dict[str, set[str]], tuple[str, ...], int, bool]] = {
    "enough without it": ({"n1": set(), "n2": set(), "n3": set()}, ("n3",), 2, False),
    "too few without it": ({"n1": set(), "n2": set(), "n3": set()}, ("n3",), 3, True),
    "too few in any case": ({"n1": set(), "n2": {"DRAIN"}, "n3": set()}, ("n3",), 3, False),
    "one that is avoided is down itself": ({"n1": set(), "n2": set(), "n3": {"NOT_RESPONDING"}}, ("n3",), 2, False),
}


@pytest.mark.parametrize("case", ROOM)
def test_room_is(case: str) -> None:
    flags, excluded, workers, tight = ROOM[case]
    nodes = [
        SlurmNode(name=name, state="IDLE", flags=frozenset(given), partitions=("gpu",)) for name, given in flags.items()
    ]
    job = SlurmJob(id="1", state="PENDING", excluded=excluded, partition="gpu")
    assert too_few(nodes, job, workers) is tight


def test_nodes_of_another_partition_are_no_room() -> None:
    nodes = [
        SlurmNode(name="n1", state="IDLE", partitions=("gpu",)),
        SlurmNode(name="n2", state="IDLE", partitions=("cpu",)),
    ]
    assert not too_few(nodes, SlurmJob(id="1", state="PENDING", excluded=("n1",), partition="gpu"), 2)

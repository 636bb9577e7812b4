"""Jobs that stood still: those who say that they wait are victims, and who is missing is named only when it is told."""

import pytest

from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind
from tests.unit.attribution.reading import elastic, explained, traceback, watchdog

REMOTE = (
    "node1:71:99 [2] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer node2<41234>\n"
    + traceback("[rank2]: torch.distributed.DistBackendError: NCCL error, ncclRemoteError", "")
)
RAS = """
Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         1         8         8         8  RUNNING  MISMATCH

Warnings
========

#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
"""


def test_those_who_do_not_say_that_they_wait_are_suspected_and_no_more() -> None:
    explanation = explained("".join(watchdog(rank, 469508) for rank in (1, 2, 3, 5, 6, 7)), ranks=8)

    assert (explanation.suspects, explanation.victims) == ((0, 4), (1, 2, 3, 5, 6, 7))
    assert explanation.fault_class is FaultClass.UNKNOWN
    assert explanation.confidence is Confidence.SUSPECTED


def test_that_the_launcher_then_ends_those_who_wait_does_not_make_them_suspects() -> None:
    launcher = traceback("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:")

    explanation = explained(watchdog(0, 77) + watchdog(1, 77) + launcher + elastic(0, -6), ranks=4)

    assert (explanation.suspects, explanation.victims) == ((2, 3), (0, 1))
    assert explanation.fault_class is FaultClass.UNKNOWN


def test_without_the_number_of_ranks_nobody_is_suspected() -> None:
    assert explained(watchdog(0, 316) + watchdog(3, 316)).suspects == ()


def test_in_a_smaller_group_nobody_outside_it_is_suspected() -> None:
    gathers = watchdog(0, 900, "_ALLGATHER_BASE").replace("NumelOut=64", "NumelOut=128")

    assert explained(gathers, ranks=8).suspects == ()


def test_when_all_ranks_wait_at_the_same_collective_the_fabric_is_suspect() -> None:
    explanation = explained("".join(watchdog(rank, 900) for rank in range(4)), ranks=4)

    assert (explanation.suspects, explanation.fault_class) == ((), FaultClass.NETWORK)


def test_a_rank_that_waits_in_an_earlier_collective_than_all_others_is_suspected() -> None:
    explanation = explained("".join(watchdog(rank, 899 if rank == 2 else 900) for rank in range(4)), ranks=4)

    assert (explanation.suspects, explanation.victims) == ((2,), (0, 1, 3))


def test_a_rank_whose_interpreter_lock_is_held_is_suspected_of_a_fault_of_the_program() -> None:
    held = "[rank3]:[E1016 03:40:00.1 ProcessGroupNCCL.cpp:1400] [PG ID 0 PG GUID 0(default_pg) Rank 3] Could not "
    held += "acquire GIL within 300 ms on exit, possible GIL induced hang\n"

    explanation = explained("".join(watchdog(rank, 900) for rank in (0, 1, 2)) + held)

    assert (explanation.suspects, explanation.victims) == ((3,), (0, 1, 2))
    assert explanation.fault_class is FaultClass.APPLICATION


def test_broken_connections_alone_are_consequences() -> None:
    explanation = explained(REMOTE)

    assert (explanation.suspects, explanation.fault_class) == ((), FaultClass.UNKNOWN)
    assert all(event.consequence for event in explanation.events)
    assert {event.kind for event in explanation.events} == {EventKind.NETWORK_ERROR}


def test_a_failed_link_is_not_the_fault_of_those_who_wait() -> None:
    failed = "node1:71:99 [2] transport/net_ib.cc:90 NCCL WARN NET/IB : mlx5_0:1 Got async event : port error\n"

    explanation = explained(failed + watchdog(0, 900))

    assert (explanation.suspects, explanation.fault_class) == ((), FaultClass.NETWORK)


def test_ras_names_the_ranks_behind() -> None:
    counts = "  7 ranks have launched up to operation 64\n  Rank 7 has launched up to operation 60 -- GPU 3 on node1\n"

    explanation = explained(RAS + counts, ranks=8)

    assert (explanation.suspects, explanation.victims) == ((7,), (0, 1, 2, 3, 4, 5, 6))
    assert explanation.confidence is Confidence.SUSPECTED
    assert explanation.first_failure is not None
    assert (explanation.first_failure.group, explanation.first_failure.op) == ("#0-0", "AllReduce")


def test_ranks_that_ras_lists_because_they_are_ahead_are_not_suspected() -> None:
    counts = "  6 ranks have launched up to operation 60\n  2 ranks have launched up to operation 64\n"
    members = "  Rank 1 -- GPU 1 managed by process 9 on node n\n  Rank 2 -- GPU 2 managed by process 9 on node n\n"

    assert explained(RAS + counts + members).suspects == ()


def test_a_message_that_a_terminal_wrapped_is_read_whole_with_the_line_of_its_start() -> None:
    whole = watchdog(6, 900).strip()
    wrapped = "\n".join(["step 1", whole[:150], whole[150:260], whole[260:]])

    (event,) = explained(wrapped).events

    assert (event.rank, event.seq, event.line) == (6, 900, 2)


def test_the_same_timeout_said_three_times_counts_once() -> None:
    (event,) = explained(watchdog(5, 880) + "  what():  " + watchdog(5, 880) + watchdog(5, 880)).events

    assert event.details["times"] == 3


DESYNC = {
    "never joined anything": (
        "\t - To our best knowledge, ranks [2, 3] are the lagging ranks that caused this timeout. They never joined "
        "any collectives\n",
        (2, 3),
    ),
    "finished one and did not join the next": (
        "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
        "\t   - [0] joined but didn't finish collective #41 (count from 1)\n"
        "\t     [2] finished collective #41, but didn't join collective #42 (count from 1)\n",
        (2,),
    ),
}


@pytest.mark.parametrize(("report", "suspects"), DESYNC.values(), ids=DESYNC)
def test_the_desync_report_names_ranks_that(report: str, suspects: tuple[int, ...]) -> None:
    explanation = explained(watchdog(0, 41) + watchdog(1, 41) + report)

    assert (explanation.suspects, explanation.victims) == (suspects, (0, 1))
    assert explanation.confidence is Confidence.LIKELY

"""What kind of fault it is: ranks that differ, devices that do not answer, circles, and ranks that do not begin."""

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from tests.unit.attribution.entries import dump, entry

PAIRS = {"1": [0, 1], "2": [0, 1]}


def test_another_operation_at_the_same_sequence_is_a_fault_of_the_program() -> None:
    dumps = [dump(rank, entry(7, "nccl:_all_gather_base" if rank == 2 else "nccl:all_reduce")) for rank in range(4)]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.victims, verdict.fault_class) == ((2,), (0, 1, 3), FaultClass.APPLICATION)
    assert verdict.message == "rank 2 differs from the others in the operation of collective 7 of default_pg"


def test_another_size_at_the_same_sequence_is_a_fault_of_the_program() -> None:
    dumps = [dump(rank, entry(7, input_sizes=[[8 if rank == 1 else 16]])) for rank in range(4)]

    assert judge_dumps(dumps).guilty == (1,)


def test_another_type_at_the_same_sequence_is_a_fault_of_the_program() -> None:
    dumps = [dump(rank, entry(7, input_dtypes=["Half" if rank == 3 else "Float"])) for rank in range(4)]

    assert judge_dumps(dumps).guilty == (3,)


def test_half_against_half_names_nobody() -> None:
    dumps = [dump(rank, entry(7, input_sizes=[[8 * (rank % 2 + 1)]])) for rank in range(4)]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.fault_class) == ((), FaultClass.APPLICATION)


def test_uneven_exchanges_and_other_shapes_of_the_same_size_are_right() -> None:
    uneven = [dump(rank, entry(7, "nccl:all_to_all", input_sizes=[[rank + 1]])) for rank in range(4)]
    reshaped = [dump(rank, entry(7, input_sizes=[[16] if rank else [4, 4]])) for rank in range(4)]

    assert judge_dumps(uneven).fault_class is FaultClass.NETWORK
    assert judge_dumps(reshaped).fault_class is FaultClass.NETWORK


def test_sizes_that_are_not_told_are_not_different() -> None:
    dumps = [dump(rank, entry(7, input_sizes=None if rank == 1 else [[16]])) for rank in range(4)]

    assert judge_dumps(dumps).fault_class is FaultClass.NETWORK


def test_work_that_all_peers_completed_and_one_did_not_is_a_fault_of_its_device() -> None:
    dumps = [dump(rank, entry(7, state="completed"), entry(8)) for rank in (0, 1, 2)] + [dump(3, entry(7))]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.fault_class) == ((3,), FaultClass.HARDWARE)


def test_ranks_that_use_two_groups_in_a_different_order_wait_for_one_another() -> None:
    first = entry(1, process_group=("1", "a"), pg_id=1)
    second = entry(1, process_group=("2", "b"), pg_id=2)
    dumps = [dump(0, first, world=2, groups=PAIRS), dump(1, second, world=2, groups=PAIRS)]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.fault_class) == ((0, 1), FaultClass.APPLICATION)
    assert "wait for one another" in verdict.message


def test_a_rank_whose_device_did_not_begin_what_the_others_began_is_guilty() -> None:
    dumps = [dump(rank, entry(7, state="scheduled" if rank == 2 else "started")) for rank in range(4)]

    verdict = judge_dumps(dumps)

    assert verdict.guilty == (2,)
    assert "did not begin it" in verdict.message


def test_a_rank_that_nobody_sends_to_waits_for_the_sender() -> None:
    receives = entry(0, "nccl:recv 1<-0", is_p2p=True, p2p_seq_id=4)
    dumps = [dump(0, world=2), dump(1, receives, world=2)]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.victims) == ((0,), (1,))
    assert verdict.collective is not None
    assert verdict.collective["op"] == "recv"


def test_a_send_that_meets_its_receive_names_nobody() -> None:
    receives = entry(0, "nccl:recv 1<-0", is_p2p=True, p2p_seq_id=4)
    sends = entry(0, "nccl:send 0->1", is_p2p=True, p2p_seq_id=9)

    assert judge_dumps([dump(0, sends, world=2), dump(1, receives, world=2)]).guilty == ()


def test_local_ranks_of_a_transfer_are_those_of_its_group() -> None:
    receives = entry(0, "nccl:recv 1<-0", is_p2p=True, process_group=("5", "stage"), pg_id=5)
    dumps = [dump(rank, groups={"5": [2, 3]}) for rank in (0, 1, 2)] + [dump(3, receives, groups={"5": [2, 3]})]

    assert judge_dumps(dumps).guilty == (2,)


def test_a_missing_dump_is_no_reason_to_suspect_a_rank_that_nobody_waits_for_first() -> None:
    groups = {"1": [0, 1], "2": [1, 2]}
    behind = entry(9)
    waits_in = {rank: entry(1, process_group=(name, "pair"), pg_id=1) for rank, name in ((0, "1"), (2, "2"))}
    dumps = [dump(rank, work, behind, groups=groups) for rank, work in waits_in.items()]

    assert judge_dumps([*dumps, dump(1, groups=groups)]).guilty == (1,)


def test_a_missing_dump_of_a_rank_that_is_missed_only_behind_other_work_is_still_named_if_nobody_else_is() -> None:
    groups = {"1": [0, 1, 2]}
    waits_in = entry(1, process_group=("1", "three"), pg_id=1)

    verdict = judge_dumps([dump(rank, waits_in, entry(9), groups=groups) for rank in (0, 1, 2)])

    assert (verdict.guilty, verdict.fault_class) == ((3,), FaultClass.UNKNOWN)

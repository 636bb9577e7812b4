"""What a standstill is put down to by where its ranks wait in the kernel."""

import pytest

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.verdict import Kind, judge
from tests.unit.core.builders import frozen, make_gang

STORAGE, HARDWARE, UNKNOWN = FaultClass.STORAGE, FaultClass.HARDWARE, FaultClass.UNKNOWN

# Each: state and wait channel of the rank that is behind, and the class.
WAITS = {
    "a server of NFS that does not answer": ("D", "rpc_wait_bit_killable", STORAGE),
    "another wait of NFS": ("D", "nfs_wait_on_request", STORAGE),
    "a file system in user space": ("S", "request_wait_answer", STORAGE),
    "a lock of Lustre": ("D", "ldlm_completion_ast", STORAGE),
    "a disk": ("D", "io_schedule", STORAGE),
    "the journal of a file system": ("D", "jbd2_log_wait_commit", STORAGE),
    "a save that is being flushed": ("D", "fsync", STORAGE),
    "the GPU's driver": ("D", "nvidia_ioctl", HARDWARE),
    "a lock in the program": ("S", "futex_wait_queue", UNKNOWN),
    "a busy loop": ("R", None, UNKNOWN),
    "a disk, but it may be left at any time": ("S", "io_schedule", UNKNOWN),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_rank_that_waits_for(case: str) -> None:
    state, channel, fault_class = WAITS[case]
    behind = frozen(1, step=36, process_state=state, wait_channel=channel)
    verdict = judge(make_gang(frozen(0), behind, frozen(2)), {"step": 10.0})
    assert (verdict.kind, verdict.ranks, verdict.fault_class) == (Kind.STALLED, (1,), fault_class)


def test_all_ranks_that_wait_for_one_server_point_at_the_storage() -> None:
    ranks = [frozen(rank, process_state="D", wait_channel="rpc_wait_bit_killable") for rank in range(4)]
    verdict = judge(make_gang(*ranks), {"step": 10.0})
    assert (verdict.kind, verdict.ranks, verdict.fault_class) == (Kind.STALLED, (), STORAGE)

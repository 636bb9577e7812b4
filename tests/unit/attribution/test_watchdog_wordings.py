"""The watchdog's wordings of each PyTorch generation, one line each."""

import pytest

from tests.unit.attribution.reading import explained

NEW = "[E101 10:00:00.1 ProcessGroupNCCL.cpp:1]"
TIMEOUT, STUCK, DUMP = "WatchdogTimeout", "WatchdogStuck", "DumpSignal"

# Each: the line, and the event as (kind, rank, group, operation, sequence).
WORDINGS = {
    "1.9, without a sequence number": (
        "[E ProcessGroupNCCL.cpp:566] [Rank 3] Watchdog caught collective operation timeout: "
        "WorkNCCL(OpType=ALLREDUCE, TensorShape=[1, 2], Timeout(ms)=1800000) ran for 1806986 milliseconds before "
        "timing out.",
        (TIMEOUT, 3, None, "ALLREDUCE", None),
    ),
    "1.13": (
        "[E ProcessGroupNCCL.cpp:821] [Rank 3] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=31, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1806986 milliseconds before timing out.",
        (TIMEOUT, 3, None, "ALLREDUCE", 31),
    ),
    "2.3, with the progress of the group": (
        "[rank9]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank 9] Timeout at NCCL work: 6075, last enqueued NCCL work: "
        "6139, last completed NCCL work: 6074.",
        (TIMEOUT, 9, "0", None, 6075),
    ),
    "2.4, a rank within a smaller group": (
        f"[rank9]:{NEW} [PG 3 Rank 1] Exception (either an error or timeout) detected by watchdog at work: 41, "
        "last enqueued NCCL work: 44, last completed NCCL work: 40.",
        (TIMEOUT, 9, "3", None, 41),
    ),
    "2.7, with the state of the group": (
        f"[rank9]:{NEW} [PG ID 2 PG GUID 5(mesh_tp) Rank 1]  failure detected by watchdog at work sequence id: 42 PG "
        "status: last enqueued work: 44, last completed work: 41",
        (TIMEOUT, 9, "mesh_tp", None, 42),
    ),
    "2.8, a blocking wait": (
        f"[rank1]:{NEW} [Rank 1] Work WorkNCCL(SeqNum=2521, OpType=BROADCAST, NumelIn=1, NumelOut=1, "
        "Timeout(ms)=600000) timed out in blocking wait.",
        (TIMEOUT, 1, None, "BROADCAST", 2521),
    ),
    "2.4, a monitor": (
        "[rank4]:[E ProcessGroupNCCL.cpp:1316] [PG 5 Rank 0] Heartbeat monitor timed out! Process will be terminated.",
        (STUCK, 4, "5", None, None),
    ),
    "2.6, a watchdog that is stuck": (
        f"[rank4]:{NEW} [PG ID 0 PG GUID 0(default_pg) Rank 4] ProcessGroupNCCL's watchdog got stuck for 480 seconds",
        (STUCK, 4, "default_pg", None, None),
    ),
    "2.6, the end of the process": (
        "[rank4]:[F101 10:08:00.1 ProcessGroupNCCL.cpp:1] [PG ID 0 PG GUID 0 Rank 4] Terminating the process after "
        "attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.",
        (STUCK, 4, "0", None, None),
    ),
    "2.9, a signal from another rank": (
        f"[rank0]:{NEW} [PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal due to a collective timeout from "
        " rank 13 and we will try our best. Last enqueued NCCL work: 9, last completed NCCL work: 7.",
        (DUMP, 0, "default_pg", None, 8),
    ),
    "2.6, a signal that was seen": (
        f"[rank0]:{NEW} [PG ID 0 PG GUID 0(default_pg) Rank 0] Observed flight recorder dump signal from another rank.",
        (DUMP, 0, "default_pg", None, None),
    ),
}


@pytest.mark.parametrize(("line", "event"), WORDINGS.values(), ids=WORDINGS)
def test_one_event_is_read_from(line: str, event: tuple[object, ...]) -> None:
    (found,) = explained(line).events

    assert (found.kind, found.rank, found.group, found.op, found.seq) == event


@pytest.mark.parametrize("line", [line for line, _ in WORDINGS.values()], ids=WORDINGS)
def test_nobody_is_accused_by(line: str) -> None:
    assert explained(line).suspects == ()

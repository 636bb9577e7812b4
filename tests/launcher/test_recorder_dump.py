"""A dump of torch's flight recorder on command: a rank that plays torch's part, with the real pipe and file."""

from __future__ import annotations

from hedgerow import wire
from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

# As torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: makes the pipe, looks at it, dumps for any byte in it.
TORCH = """
import os, pickle, time, hedgerow
rank = os.environ["RANK"]
entries = [
    {"record_id": n, "process_group": ("0", "default_pg"), "collective_seq_id": n, "profiling_name": "nccl:all_reduce",
     "state": "completed" if n < 41 else "started"}
    for n in range(1, 42)
]
dump = {"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "entries": entries}
def write():
    with open(os.environ["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] + rank, "wb") as file:
        pickle.dump(dump, file, protocol=2)
if int(os.environ["TORCH_NCCL_TRACE_BUFFER_SIZE"]) > 0:
    path = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + rank + ".pipe"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    hedgerow.beat(step=41)
    while not os.read(pipe, 1):
        time.sleep(0.1)
    write()
time.sleep(60)
"""
DUMPS_AND_DIES = TORCH.replace("while not os.read(pipe, 1):", "while False:").replace("time.sleep(60)", "os._exit(134)")


def test_a_dump_tells_where_the_rank_is_in_each_group(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(TORCH))
    assert operator.wait_for_rank(lambda r: r.step == 41).collectives is None
    operator.command(wire.Command(wire.COMMAND_DUMP, 1))
    rank = operator.wait_for_rank(lambda r: r.collectives)
    assert rank.collectives is not None
    assert [(entry["collective_seq_id"], entry["state"]) for entry in rank.collectives["entries"]] == [(41, "started")]
    assert rank.collectives["count"] == 41
    assert rank.records
    assert 0.0 <= (rank.collectives_age or 0.0) < 30.0
    assert 0.0 <= (operator.of()[-1].dump_age or -1.0) < 30.0


def test_a_dump_that_torch_made_before_the_end_is_told(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(DUMPS_AND_DIES))
    rank = operator.wait_for_rank(lambda r: r.collectives)
    assert (rank.state, rank.exit_code) == (wire.RANK_EXITED, 134)

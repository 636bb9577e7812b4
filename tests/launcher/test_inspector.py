"""NCCL Inspector's file of a rank, read by a real launcher: the rank plays NCCL's part, a minute in a moment."""

from __future__ import annotations

import pytest

from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

NCCL = """
import json, os, socket, time, hedgerow
os.makedirs(os.environ["NCCL_INSPECTOR_DUMP_DIR"], exist_ok=True)
path = "%s/%s-pid%d.log" % (os.environ["NCCL_INSPECTOR_DUMP_DIR"], socket.gethostname(), os.getpid())
with open(path, "w") as file:
    for second in range(0, 61, 10):
        file.write(json.dumps({
            "header": {"id": "0x1", "rank": 0, "n_ranks": 8, "nnodes": 1},
            "metadata": {"dump_timestamp_us": (1000 + second) * 1000000, "pid": os.getpid()},
            "coll_perf": {"coll": "AllReduce", "coll_sn": 10 * second, "coll_exec_time_us": 25000},
        }) + "\\n")
for step in range(1, 600):
    hedgerow.beat(step=step)
    time.sleep(0.1)
"""


def test_time_in_collectives_is_told_by_what_nccl_inspector_writes(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(NCCL), NCCL_INSPECTOR_ENABLE="1", NCCL_INSPECTOR_DUMP_DIR="inspector")
    told = operator.wait_for_rank(lambda rank: rank.communication).communication
    assert told is not None
    assert (told.source, told.share) == ("Inspector", pytest.approx(0.25))
    assert told.seconds_per_step == pytest.approx(0.025, rel=0.5)

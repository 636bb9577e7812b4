"""Which GPUs each rank sees is told as the rank itself was started with it, also where a shell chose."""

from __future__ import annotations

from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

SLEEP = "import time\ntime.sleep(600)"


def test_each_rank_tells_which_gpus_it_sees(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    interpreter, *words = python(SLEEP)
    chooses = 'export CUDA_VISIBLE_DEVICES=$((LOCAL_RANK + 4)); exec "$0" "$@"'
    launch("sh", "-c", chooses, interpreter, *words, HEDGEROW_NPROC="2")
    report = operator.wait_for(lambda r: [rank.devices for rank in r.ranks] == ["4", "5"])
    assert [rank.local_rank for rank in report.ranks] == [0, 1]


def test_a_rank_that_was_told_nothing_tells_nothing(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(SLEEP))
    rank = operator.wait_for_rank(lambda r: (r.memory_bytes or 0) > 0)
    assert rank.devices is None

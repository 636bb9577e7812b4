"""What the engine tells of its jobs' communication: of those that there are, as they say it now."""

from hedgerow.wire import CommunicationReport
from hedgerow_operator.core.watching.communication import FRESH_SECONDS, Communication
from tests.unit.core.builders import make_rank, make_report
from tests.unit.reconcile.fakes import KEY
from tests.unit.reconcile.test_engine import RUNNING_STATUS, Bench

MEASURED = CommunicationReport(0.1, share=0.25, source="Inspector", bus_gigabytes_per_second=400.0)


async def heard(communication: CommunicationReport | None) -> Bench:
    """An engine that knows one job, whose ranks say this."""
    bench = Bench(RUNNING_STATUS)
    bench.runtime.attempts.add(1)
    await bench.again()
    bench.hub.receive(make_report(*[make_rank(rank, communication=communication) for rank in range(4)], seq=1))
    return bench


async def test_a_job_is_told_of_by_its_name_with_what_its_ranks_measure() -> None:
    bench = await heard(MEASURED)
    told = Communication(share=0.25, bus_bytes_per_second=4e11)
    assert list(bench.engine.communication()) == [(KEY.namespace, KEY.name, told)]


async def test_nothing_is_told_of_one_that_measures_nothing_or_is_not_heard_any_more() -> None:
    assert list((await heard(None)).engine.communication()) == []
    bench = await heard(MEASURED)
    bench.now += FRESH_SECONDS + 1
    assert list(bench.engine.communication()) == []


async def test_nothing_is_told_of_a_job_that_is_gone() -> None:
    bench = await heard(MEASURED)
    bench.jobs.job = None
    await bench.again()
    assert list(bench.engine.communication()) == []

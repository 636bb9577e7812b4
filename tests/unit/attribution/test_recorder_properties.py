"""What holds for every simulated job, whoever stops and wherever."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from tests.unit.attribution.simulated import Job

SHAPES = st.sampled_from([(2, 2, 1), (1, 4, 1), (1, 1, 4), (2, 2, 2), (4, 1, 2), (1, 2, 4), (4, 2, 2), (4, 4, 4)])
# Every rank has more operations than this.
STOPS = st.integers(0, 15)
QUIET = settings(max_examples=60, deadline=None)


def job_of(shape: tuple[int, int, int], stops: dict[int, int], **others: object) -> Job:
    return Job(*shape, stops=stops, steps=10, **others)  # type: ignore[arg-type]


@QUIET
@given(SHAPES, st.data())
def test_one_rank_that_stops_is_always_named_alone(shape: tuple[int, int, int], data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, shape[0] * shape[1] * shape[2] - 1))
    job = job_of(shape, {rank: data.draw(STOPS)})

    for without in ((), (rank,)):
        verdict = judge_dumps(job.dumps(without))
        assert verdict.guilty == (rank,)
        assert not set(verdict.guilty) & set(verdict.victims)


@QUIET
@given(SHAPES, st.data())
def test_of_two_that_stop_only_such_are_named_and_at_least_one(
    shape: tuple[int, int, int], data: st.DataObject
) -> None:
    ranks = st.integers(0, shape[0] * shape[1] * shape[2] - 1)
    stops = data.draw(st.dictionaries(ranks, STOPS, min_size=1, max_size=2))

    verdict = judge_dumps(job_of(shape, stops).dumps())

    assert verdict.guilty
    assert set(verdict.guilty) <= set(stops)
    assert set(verdict.guilty) | set(verdict.victims) == set(range(shape[0] * shape[1] * shape[2]))


@QUIET
@given(SHAPES, st.data())
def test_other_numbers_for_the_ranks_give_the_same_verdict_in_other_numbers(
    shape: tuple[int, int, int], data: st.DataObject
) -> None:
    world = shape[0] * shape[1] * shape[2]
    stops = data.draw(st.dictionaries(st.integers(0, world - 1), STOPS, min_size=1, max_size=3))
    names = dict(enumerate(data.draw(st.permutations(range(world)))))

    plain = judge_dumps(job_of(shape, stops).dumps())
    renamed = judge_dumps(job_of(shape, stops, names=names).dumps())

    assert set(renamed.guilty) == {names[rank] for rank in plain.guilty}
    assert set(renamed.victims) == {names[rank] for rank in plain.victims}
    assert (renamed.fault_class, renamed.group) == (plain.fault_class, plain.group)


@QUIET
@given(SHAPES, st.data())
def test_a_fabric_that_fails_accuses_nobody(shape: tuple[int, int, int], data: st.DataObject) -> None:
    groups = sorted(job_of(shape, {}).groups)
    broken = frozenset(data.draw(st.sets(st.sampled_from(groups), min_size=1)))

    assert judge_dumps(job_of(shape, {}, broken=broken).dumps()).guilty == ()

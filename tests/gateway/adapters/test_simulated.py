"""The simulated provider: recorded courses, a seed, and faults on demand."""

import asyncio

import pytest

from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.simulated.provider import Simulated
from hedgerow_operator.adapters.providers.simulated.script import Fault, Misbehaviour, Script
from hedgerow_operator.core.hedging.receipts import Evidence, Scope
from hedgerow_operator.core.hedging.seen import AttemptState
from hedgerow_operator.replay.hedging.rounds import Course
from tests.gateway.adapters.watching import ended

_QUICK = Course(answer_seconds=6.0, valid=True, queue_seconds=1.2, execution_seconds=4.8)
_LONG = Course(answer_seconds=6000.0, valid=True, queue_seconds=1.2, execution_seconds=5998.8)
_WAITS = Course(answer_seconds=6000.0, valid=True, queue_seconds=5000.0)
_SCALE = 200.0


def simulated(*courses: Course, **more: object) -> Simulated:
    """Two hundred times quicker than recorded."""
    script = Script(courses=courses, time_scale=_SCALE, **more)  # type: ignore[arg-type]
    return Simulated(Setup(name="sim", usd_per_second=0.001), script)


def with_fault(fault: Fault, *courses: Course) -> Simulated:
    """Each of its attempts misbehaves so."""
    return simulated(*courses, faults=(Misbehaviour(fault=fault),))


async def test_an_attempt_takes_what_its_course_says_at_the_scale_of_time() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    updates = await ended(await simulated(_QUICK).submit(Call()))
    assert [one.state for one in updates] == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.VALID]
    assert loop.time() - began >= 6.0 / _SCALE
    answer = updates[-1].answer
    assert answer is not None
    assert answer.queue_seconds == pytest.approx(1.2 / _SCALE)
    assert answer.output == {"provider": "sim", "attempt": 1}


async def test_a_provider_that_shows_nothing_shows_its_answer_alone() -> None:
    provider = simulated(_QUICK, shows_queue=False, shows_start=False)
    states = [one.state for one in await ended(await provider.submit(Call()))]
    assert states == [AttemptState.UNKNOWN, AttemptState.VALID]
    assert not provider.shows_start


async def test_a_request_that_names_its_round_takes_the_same_course_again() -> None:
    refused = Course(answer_seconds=0.0, valid=False, refused=True)
    provider = simulated(_QUICK, refused)
    for _again in range(3):
        await provider.submit(Call(body=b'{"round": 1}'))
        with pytest.raises(ProviderError, match="recorded round"):
            await provider.submit(Call(body=b'{"round": 2}'))


def test_a_seed_draws_the_same_courses_again_and_another_seed_others() -> None:
    courses = [[Script(seed=seed).course(number) for number in range(1, 50)] for seed in (1, 1, 2)]
    assert courses[0] == courses[1] != courses[2]
    cold = sum(course.answer_seconds > 60 for course in courses[0])
    assert 3 <= cold <= 25, "a quarter of them is cold"


async def test_a_course_that_was_not_valid_answers_by_nothing() -> None:
    update = (await ended(await simulated(Course(answer_seconds=1.0, valid=False)).submit(Call())))[-1]
    assert update.state is AttemptState.VALID
    assert update.answer is not None
    assert (update.answer.output, update.answer.body) == (None, b"")


async def test_one_cancelled_in_the_queue_costs_nothing_and_is_seen_to_end() -> None:
    attempt = await simulated(_WAITS).submit(Call())
    watch = asyncio.create_task(ended(attempt))
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.scope, receipt.leaked) == (Evidence.TERMINAL, Scope.QUEUED_JOB, False)
    assert (receipt.estimated_cost, receipt.terminal_status) == (0.0, "CANCELLED")
    assert (await watch)[-1].state is AttemptState.FAILED


FAULTS = {
    Fault.CANCEL_IGNORED: (Evidence.ACKNOWLEDGED, True),
    Fault.CANCEL_LOST: (Evidence.NONE, True),
    Fault.HANG: (Evidence.TERMINAL, False),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_cancel_gives_the_evidence_that_the_fault_leaves(fault: Fault) -> None:
    attempt = await with_fault(fault, _LONG).submit(Call())
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.leaked) == FAULTS[fault]


async def test_a_worker_that_dies_is_a_failure_while_it_runs() -> None:
    states = [one.state for one in await ended(await with_fault(Fault.DIE, _QUICK).submit(Call()))]
    assert states == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.FAILED]


async def test_refusals_are_safe_to_retry_and_wrong_credentials_are_named() -> None:
    with pytest.raises(ProviderError) as caught:
        await with_fault(Fault.REFUSE, _QUICK).submit(Call())
    assert (caught.value.safe_to_retry, caught.value.retry_after) == (True, 1.0)
    with pytest.raises(ProviderError) as caught:
        await with_fault(Fault.UNAUTHORIZED, _QUICK).submit(Call())
    assert caught.value.credentials


async def test_a_fault_may_be_meant_for_some_attempts_only() -> None:
    provider = simulated(_QUICK, faults=(Misbehaviour(fault=Fault.REFUSE, first=2, last=3),))
    await provider.submit(Call())
    for _refused in range(2):
        with pytest.raises(ProviderError):
            await provider.submit(Call())
    await provider.submit(Call())


async def test_a_stream_comes_word_by_word_and_may_break() -> None:
    call = Call(path="v1/chat/completions", stream=True)
    answer = (await ended(await simulated(_QUICK).submit(call)))[-1].answer
    assert answer is not None
    assert answer.chunks is not None
    whole = b"".join([chunk async for chunk in answer.chunks])
    assert whole.endswith(b"data: [DONE]\n\n")
    cut = (await ended(await with_fault(Fault.CUT, _QUICK).submit(call)))[-1].answer
    assert cut is not None
    assert cut.chunks is not None
    with pytest.raises(ProviderError, match="broke"):
        [chunk async for chunk in cut.chunks]


async def test_what_an_earlier_process_simulated_is_over_and_what_this_one_does_is_ended() -> None:
    provider = simulated(_LONG)
    assert (await provider.recover("sim-9")).terminal_status == "GONE"
    attempt = await provider.submit(Call())
    assert (await provider.recover(attempt.job_id)).terminal_status == "CANCELLED"
    health = await provider.health()
    assert (health.warm, health.queued) == (0, 0)

"""The script of a simulated provider, as its manifest says."""

from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.simulated.provider import Simulated
from hedgerow_operator.adapters.providers.simulated.script import Fault, Misbehaviour, Script
from hedgerow_operator.api.provider_types import SimulatedCourse, SimulatedFault, SimulatedSection
from hedgerow_operator.replay.hedging.rounds import Course


def simulated(section: SimulatedSection | None, setup: Setup) -> Simulated:
    """The provider."""
    return Simulated(setup, script_of(section or SimulatedSection()))


def script_of(section: SimulatedSection) -> Script:
    """What its attempts do."""
    return Script(
        courses=tuple(map(_course, section.courses)),
        seed=section.seed,
        cold_share=section.cold_percent / 100,
        time_scale=float(section.time_scale),
        shows_queue=section.shows == "Queue",
        shows_start=section.shows != "Nothing",
        free_in_queue=section.free_in_queue,
        faults=tuple(map(_misbehaviour, section.faults)),
    )


def _course(course: SimulatedCourse) -> Course:
    queue, run = course.queue_millis / 1000, course.run_millis / 1000
    return Course(answer_seconds=queue + run, valid=course.valid, queue_seconds=queue, execution_seconds=run)


def _misbehaviour(fault: SimulatedFault) -> Misbehaviour:
    return Misbehaviour(fault=Fault(fault.fault), first=fault.first, last=fault.last, share=fault.percent / 100)

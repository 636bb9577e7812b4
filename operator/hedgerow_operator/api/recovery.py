"""The parts of ``spec`` that say when a job counts as stalled and how it is brought back."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hedgerow_operator.api.model import StrictModel
from hedgerow_operator.api.node_signals import MAX_SIGNALS, NodeSignalSpec

WEEK_SECONDS = 7 * 24 * 3600
MAX_PHASES = 32


class StallSpec(StrictModel, frozen=True, kw_only=True):
    """Limits around the learned deadlines."""

    min_seconds: Annotated[
        int, Meta(description="No learned deadline is shorter than this, in seconds.", ge=1, le=WEEK_SECONDS)
    ] = 10
    max_seconds: Annotated[
        int, Meta(description="No learned deadline is longer than this, in seconds.", ge=1, le=WEEK_SECONDS)
    ] = 1800


class SlowdownSpec(StrictModel, frozen=True, kw_only=True):
    """When a job that goes on counts as slow."""

    threshold_percent: Annotated[
        int,
        Meta(
            description="Steps, or their communication, count as slow when they take so many percent longer than "
            "this job's own.",
            ge=1,
            le=10_000,
        ),
    ] = 10
    window_seconds: Annotated[int, Meta(description="Seconds over which they are compared.", ge=10, le=86400)] = 60


class PhaseSpec(StrictModel, frozen=True, kw_only=True):
    """One phase with a deadline of its own."""

    name: Annotated[
        str,
        Meta(
            description="Name of the phase, as in hedgerow.beat(phase=…): eval, checkpoint, or your own.",
            min_length=1,
            max_length=63,
        ),
    ]
    max_seconds: Annotated[
        int, Meta(description="Longest time in seconds without progress in this phase.", ge=1, le=WEEK_SECONDS)
    ]


class HealthSpec(StrictModel, frozen=True, kw_only=True):
    """Deadlines after which silence counts."""

    startup_timeout_seconds: Annotated[
        int,
        Meta(
            description="Longest time in seconds from start to first progress, until that is learned.",
            ge=1,
            le=WEEK_SECONDS,
        ),
    ] = 1800
    gang_timeout_seconds: Annotated[
        int,
        Meta(
            description="Seconds that placed workers wait for unschedulable ones before all are taken down and "
            "tried again; does not count as a restart.",
            ge=1,
            le=WEEK_SECONDS,
        ),
    ] = 600
    report_timeout_seconds: Annotated[
        int, Meta(description="Seconds without a report after which a launcher counts as silent.", ge=10, le=3600)
    ] = 30
    stall: Annotated[StallSpec, Meta(description="Limits around the learned deadlines.")] = StallSpec()
    slowdown: Annotated[SlowdownSpec, Meta(description="When the job counts as slow.")] = SlowdownSpec()
    phases: Annotated[
        tuple[PhaseSpec, ...], Meta(description="Phases with a deadline of their own.", max_length=MAX_PHASES)
    ] = ()
    node_signals: Annotated[
        tuple[NodeSignalSpec, ...],
        Meta(
            description="What others say of nodes: new attempts avoid a node of which one is said, and it is evidence "
            "where a rank on such a node stands still or ends. With kubernetes only.",
            max_length=MAX_SIGNALS,
        ),
    ] = ()


class BackoffSpec(StrictModel, frozen=True, kw_only=True):
    """Waiting time before a restart; doubles with each one that brings no newer checkpoint."""

    initial_seconds: Annotated[int, Meta(description="First waiting time in seconds.", ge=0, le=86400)] = 5
    max_seconds: Annotated[int, Meta(description="Longest waiting time in seconds.", ge=0, le=86400)] = 300


class ExcludeSpec(StrictModel, frozen=True, kw_only=True):
    """Limits on avoiding nodes that harmed an attempt."""

    max_nodes: Annotated[int, Meta(description="Most nodes avoided at once.", ge=0, le=1000)] = 2
    ttl_seconds: Annotated[
        int, Meta(description="Seconds after which a node may be used again.", ge=60, le=30 * 86400)
    ] = 86400
    max_wait_seconds: Annotated[
        int,
        Meta(
            description="Seconds that an attempt may wait for room because of avoided nodes before one of them "
            "is given back.",
            ge=0,
            le=86400,
        ),
    ] = 600


class RecoverySpec(StrictModel, frozen=True, kw_only=True):
    """How the job is brought back, and when to give up."""

    mode: Annotated[Literal["Act", "Observe"], Meta(description="Observe: only says what it would do.")] = "Act"
    max_restarts: Annotated[
        int,
        Meta(
            description="Counted restarts after which the job fails; preemption and suspension do not count.",
            ge=0,
            le=10_000,
        ),
    ] = 10
    no_progress_limit: Annotated[
        int, Meta(description="Attempts in a row without a newer checkpoint after which the job fails.", ge=1, le=1000)
    ] = 3
    backoff: Annotated[BackoffSpec, Meta(description="Waiting time before a restart.")] = BackoffSpec()
    grace_seconds: Annotated[
        int,
        Meta(
            description="Seconds between SIGTERM and SIGKILL when ranks are asked to end; with kubernetes, the "
            "template's terminationGracePeriodSeconds where that is longer.",
            ge=0,
            le=3600,
        ),
    ] = 30
    fence_seconds: Annotated[
        int,
        Meta(
            description="Seconds after which a worker that hears neither the operator nor the rest of its gang "
            "stops its ranks.",
            ge=10,
            le=3600,
        ),
    ] = 120
    exclude: Annotated[ExcludeSpec, Meta(description="Limits on avoiding nodes.")] = ExcludeSpec()

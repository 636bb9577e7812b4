"""What Hedgerow says about a TrainingJob: ``status``. Times are RFC 3339 text in UTC, numbers are whole."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.model import Model, list_keyed_by

MAX_HISTORY = 10

ConditionStatus = Literal["True", "False", "Unknown"]
AttemptStage = Literal["", "Placing", "Gathering", "Starting", "Running", "Stopping", "Removing", "Suspended", "Ended"]
FaultClass = Literal["Application", "Hardware", "Network", "Storage", "Scheduler", "Unknown"]
_FAULT_CLASS = "What kind of fault it is put down to."
MAX_DEGRADATIONS = 16
StopAction = Literal["RestartInPlace", "NewPlacement", "Suspend", "Fail"]


class Condition(Model, frozen=True, kw_only=True):
    """One aspect of an object's state, as in the Kubernetes API conventions."""

    type: Annotated[str, Meta(description="What this is about, such as Degraded.")]
    status: Annotated[ConditionStatus, Meta(description="True, False or Unknown.")]
    reason: Annotated[str, Meta(description="One CamelCase word that says why.")]
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    observed_generation: Annotated[int, Meta(description="Generation of the spec that this was decided from.")] = 0
    last_transition_time: Annotated[str, Meta(description="When status last changed.")] = ""


class StepMillis(Model, frozen=True, kw_only=True):
    """Length of recent steps in milliseconds."""

    median: Annotated[int, Meta(description="Median in milliseconds.")]
    p99: Annotated[int, Meta(description="99th percentile in milliseconds.")]


class RanksStatus(Model, frozen=True, kw_only=True):
    """Which ranks report."""

    expected: Annotated[int, Meta(description="Ranks that the job has.")]
    reporting: Annotated[int, Meta(description="Ranks of the current attempt that report.")]
    missing: Annotated[tuple[str, ...], Meta(description="Workers and ranks that do not report; the first few.")] = ()
    summary: Annotated[str, Meta(description='Reporting of expected: "31/32"; "32/32 done" after success.')] = ""


class CheckpointStatus(Model, frozen=True, kw_only=True):
    """The newest checkpoint that the next attempt could start from."""

    step: Annotated[int, Meta(description="Its step.")]
    path: Annotated[str, Meta(description="Where it lies.")]
    time: Annotated[str, Meta(description="When it was written.")]
    verified: Annotated[bool, Meta(description="False: of a layout that cannot be checked.")]


class IncidentGPU(Model, frozen=True, kw_only=True):
    """The GPU of a guilty rank."""

    index: Annotated[int, Meta(description="Its number on the node.")]
    uuid: Annotated[str, Meta(description="Its UUID.")] = ""
    pci: Annotated[str, Meta(description="Its PCI address.")] = ""


class Incident(Model, frozen=True, kw_only=True):
    """One trouble, from its opening to its closing."""

    kind: Annotated[str, Meta(description="What stopped the progress.")]
    phase: Annotated[str, Meta(description="Phase in which it did.")] = ""
    opened_at: Annotated[str, Meta(description="When it was first suspected.")]
    attempt: Annotated[int, Meta(description="Attempt that it happened to.")]
    ranks: Annotated[tuple[int, ...], Meta(description="Guilty ranks, global numbers.")] = ()
    node: Annotated[str | None, Meta(description="Node of the guilty ranks.")] = None
    gpu: Annotated[IncidentGPU | None, Meta(description="GPU of the guilty rank, where it is known which.")] = None
    reason: Annotated[str, Meta(description="Verdict in one CamelCase word.")] = ""
    fault_class: Annotated[FaultClass, Meta(description=_FAULT_CLASS)] = msgspec.field(default="Unknown", name="class")
    message: Annotated[str, Meta(description="The verdict for a person.")] = ""
    evidence: Annotated[tuple[str, ...], Meta(description="What was seen, one observation an entry.")] = ()
    action: Annotated[str, Meta(description="What is being done, or would be in mode Observe.")] = ""
    act_at: Annotated[str | None, Meta(description="When it will be done, unless progress comes back first.")] = None


class Degradation(Model, frozen=True, kw_only=True):
    """Something that is not as it should be while the job goes on, from its opening to its closing."""

    name: Annotated[str, Meta(description="What it is told apart by: its reason, or the name of the alert.")]
    reason: Annotated[str, Meta(description="What is unusual, in one CamelCase word.")]
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    opened_at: Annotated[str, Meta(description="When it opened.")]
    attempt: Annotated[int, Meta(description="Attempt that it happens to.")]
    ranks: Annotated[tuple[int, ...], Meta(description="Ranks that differ from the others; the first few.")] = ()
    nodes: Annotated[tuple[str, ...], Meta(description="Nodes of these ranks.")] = ()


class SlurmJobStatus(Model, frozen=True, kw_only=True):
    """The batch job that the current placement is, as Slurm last showed it."""

    job_id: Annotated[str, Meta(description="Its number.")] = msgspec.field(name="jobID")
    placement: Annotated[int, Meta(description="First attempt of the placement that it is.")]
    state: Annotated[str, Meta(description="Its state, such as PENDING.")] = ""
    reason: Annotated[str, Meta(description="Why Slurm does not start it, in its own word.")] = ""
    submitted_at: Annotated[str | None, Meta(description="When it was submitted.")] = None
    nodes: Annotated[str, Meta(description="Its nodes, such as n[1-4].")] = ""


class HistoryEntry(Model, frozen=True, kw_only=True):
    """One attempt that has ended."""

    attempt: Annotated[int, Meta(description="Its number.")]
    placement: Annotated[int, Meta(description="First attempt of its placement.")]
    reason: Annotated[str, Meta(description="Why it ended.")]
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    started_at: Annotated[str | None, Meta(description="When its ranks started.")] = None
    ended_at: Annotated[str | None, Meta(description="When its last rank was gone.")] = None
    from_step: Annotated[int | None, Meta(description="Step of the checkpoint that it started from.")] = None
    last_step: Annotated[int | None, Meta(description="Last step that every rank finished.")] = None
    ranks: Annotated[tuple[int, ...], Meta(description="Guilty ranks.")] = ()
    node: Annotated[str | None, Meta(description="Node of the guilty ranks.")] = None
    fault: Annotated[str | None, Meta(description="Exception of the training script that ended it.")] = None
    fault_class: Annotated[FaultClass, Meta(description=_FAULT_CLASS)] = msgspec.field(default="Unknown", name="class")
    counted: Annotated[bool, Meta(description="Its end counts for maxRestarts.")] = True


class ExcludedNode(Model, frozen=True, kw_only=True):
    """A node that this job avoids for a while."""

    name: Annotated[str, Meta(description="Name of the node.")]
    reason: Annotated[str, Meta(description="Why it is avoided.")]
    until: Annotated[str, Meta(description="When it may be used again.")]


class Stopping(Model, frozen=True, kw_only=True):
    """Why the current attempt is being ended, and what comes after it."""

    action: Annotated[StopAction, Meta(description="What comes after it.")]
    reason: Annotated[str, Meta(description="Why, in one CamelCase word.")]
    message: Annotated[str, Meta(description="The same for a person.")] = ""
    since: Annotated[str, Meta(description="When that was decided.")]
    kill: Annotated[bool, Meta(description="Ranks are killed without grace.")] = False
    counted: Annotated[bool, Meta(description="The restart counts for maxRestarts.")] = True
    started: Annotated[bool, Meta(description="Its ranks had been started.")] = True
    fault: Annotated[str | None, Meta(description="Exception of the training script that ended it.")] = None


class Ledger(Model, frozen=True, kw_only=True):
    """What goodput is computed from, in milliseconds."""

    lost_millis: Annotated[int, Meta(description="Unproductive time so far.")] = 0
    idle_since_millis: Annotated[
        int | None, Meta(description="When progress ended (since the epoch); unset while there is progress.")
    ] = None


class BadCheckpoint(Model, frozen=True, kw_only=True):
    """A checkpoint from which attempts failed."""

    path: Annotated[str, Meta(description="Where it lies.")]
    failures: Annotated[int, Meta(description="Attempts from it that failed without a newer checkpoint.")]


class TrainingJobStatus(Model, frozen=True, kw_only=True):
    """What is known about the job. The conditions are the truth; state and reason sum them up for display."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(description="State of the job, one entry a type.", extra_json_schema=list_keyed_by("type")),
    ] = ()
    observed_generation: Annotated[int, Meta(description="Generation of the spec that was last acted on.")] = 0
    state: Annotated[str, Meta(description="The conditions in one word.")] = ""
    reason: Annotated[str, Meta(description="Why, in one word.")] = ""
    attempt: Annotated[int, Meta(description="Current attempt, from 1; 0 before the first.")] = 0
    placement: Annotated[int, Meta(description="First attempt of the current placement.")] = 0
    attempt_stage: Annotated[AttemptStage, Meta(description="How far the current attempt is.")] = ""
    attempt_started_at: Annotated[str | None, Meta(description="When the current attempt began.")] = None
    next_start_at: Annotated[str | None, Meta(description="When the next attempt may begin.")] = None
    resume_from: Annotated[str | None, Meta(description="Checkpoint that the current attempt started from.")] = None
    resume_step: Annotated[int | None, Meta(description="Step of that checkpoint.")] = None
    restarts: Annotated[int, Meta(description="Attempts after the first.")] = 0
    restarts_counted: Annotated[int, Meta(description="Those that count for maxRestarts.")] = 0
    no_progress: Annotated[int, Meta(description="Attempts in a row without a newer checkpoint.")] = 0
    progress_judged: Annotated[int, Meta(description="Newest attempt that noProgress accounts for.")] = 0
    step: Annotated[int | None, Meta(description="Last step that every rank finished.")] = None
    step_millis: Annotated[StepMillis | None, Meta(description="Length of recent steps.")] = None
    ranks: Annotated[RanksStatus | None, Meta(description="Which ranks report.")] = None
    checkpoint: Annotated[CheckpointStatus | None, Meta(description="Newest checkpoint to start from.")] = None
    bad_checkpoints: Annotated[
        tuple[BadCheckpoint, ...], Meta(description="Checkpoints from which attempts failed.")
    ] = ()
    goodput_percent: Annotated[
        int | None, Meta(description="Productive time of the time since the first start, in percent.")
    ] = None
    lost_steps: Annotated[int, Meta(description="Steps that were computed more than once.")] = 0
    lost_gpu_seconds: Annotated[int, Meta(description="Unproductive seconds, summed over ranks.")] = msgspec.field(
        default=0, name="lostGPUSeconds"
    )
    lost_cost_usd: Annotated[str | None, Meta(description="What they cost in US dollars, when spec.cost is set.")] = (
        msgspec.field(default=None, name="lostCostUSD")
    )
    slurm: Annotated[SlurmJobStatus | None, Meta(description="With spec.slurm: the batch job of the placement.")] = None
    incident: Annotated[Incident | None, Meta(description="The trouble that is open now.")] = None
    degradations: Annotated[
        tuple[Degradation, ...],
        Meta(
            description="What is not as it should be while the job goes on.", max_length=MAX_DEGRADATIONS,
            extra_json_schema=list_keyed_by("name"),
        ),
    ] = ()
    history: Annotated[
        tuple[HistoryEntry, ...],
        Meta(description="The last attempts that ended, oldest first.", max_length=MAX_HISTORY),
    ] = ()
    excluded_nodes: Annotated[
        tuple[ExcludedNode, ...],
        Meta(description="Nodes that this job avoids.", extra_json_schema=list_keyed_by("name")),
    ] = ()
    stopping: Annotated[Stopping | None, Meta(description="Set while the current attempt is being ended.")] = None
    ledger: Annotated[Ledger, Meta(description="What goodput is computed from.")] = Ledger()
    fenced_attempt: Annotated[int, Meta(description="Newest attempt whose launchers are told to stop.")] = 0
    fenced_at: Annotated[str | None, Meta(description="When that was recorded.")] = None
    start_time: Annotated[str | None, Meta(description="When the first attempt began.")] = None
    completion_time: Annotated[str | None, Meta(description="When the job succeeded or failed.")] = None

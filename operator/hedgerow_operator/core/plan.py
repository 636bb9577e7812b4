"""What a decision asks the shell to do."""

from msgspec import Struct

from hedgerow.wire import Command
from hedgerow_operator.api.status import TrainingJobStatus

# How often launchers report: in calm, and while something is being decided.
CALM_INTERVAL_SECONDS = 5.0
BUSY_INTERVAL_SECONDS = 1.0


class CreatePlacement(Struct, frozen=True, kw_only=True):
    """Create the placement named by its first attempt, unless it exists. Never on one of the excluded nodes."""

    attempt: int
    excluded_nodes: tuple[str, ...] = ()


class RemovePlacement(Struct, frozen=True, kw_only=True):
    """Remove everything of this placement; force: names of workers to delete without waiting for their node."""

    attempt: int
    force: tuple[str, ...] = ()


class DeleteJob(Struct, frozen=True, kw_only=True):
    """Delete the finished job itself (time to live is over)."""


Action = CreatePlacement | RemovePlacement | DeleteJob


class Event(Struct, frozen=True, kw_only=True):
    """One event for people, sent after the status write. warning: type Warning instead of Normal."""

    reason: str
    message: str
    warning: bool = False


class Orders(Struct, frozen=True, kw_only=True):
    """How launchers are answered until the next plan.

    attempt: the attempt whose launchers are current, 0: none is. fenced: newest attempt that is fenced (it and all
    older are answered stop). commands: worker index of the current placement -> commands.
    stop_others: the command for launchers of any other placement. deadlines, interval_seconds: as wire.Answer.
    spoken_for: the lines of some rank tell the progress of all, and are in time.
    """

    placement: int
    attempt: int
    fenced: int = 0
    commands: dict[int, tuple[Command, ...]] = {}
    stop_others: Command | None = None
    deadlines: dict[str, float] = {}
    interval_seconds: float = CALM_INTERVAL_SECONDS
    spoken_for: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """actions follow from the status as it was read, never from the one that this plan writes; so a crash between
    any two calls leaves a state from which the same actions follow again.

    status: to write when it differs from the one read. learned, pace: text for the annotations learned-durations and
    learned-pace, None: leave it. requeue_after: seconds until the job must be looked at again, None: only when
    something changes.
    """

    status: TrainingJobStatus
    orders: Orders
    actions: tuple[Action, ...] = ()
    learned: str | None = None
    pace: str | None = None
    events: tuple[Event, ...] = ()
    requeue_after: float | None = None

"""One step of a job's state machine: what every stage gets and what it gives."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from hedgerow.wire import PHASE_INIT
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.early_watch import early_verdict
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.nodes.blame import Blame, blames
from hedgerow_operator.core.nodes.signals import marks
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import Seen
from hedgerow_operator.core.verdict import Verdict, judge

PLACING = "Placing"
GATHERING = "Gathering"
STARTING = "Starting"
RUNNING = "Running"
STOPPING = "Stopping"
REMOVING = "Removing"
SUSPENDED = "Suspended"
ENDED = "Ended"


class Context(Struct, frozen=True, kw_only=True, dict=True):
    """Everything a stage decides from. now: seconds since the epoch. deadlines, early_limits: seconds by phase."""

    job: TrainingJob
    seen: Seen
    gang: Gang
    now: float
    learned: Mapping[str, Mapping[int, int]]
    deadlines: Mapping[str, float]
    early_limits: Mapping[str, float] = {}

    @property
    def status(self) -> TrainingJobStatus:
        """The status as it was read."""
        return self.job.status

    @cached_property
    def verdict(self) -> Verdict:
        """What the progress of the ranks says."""
        return judge(self.gang, self.deadlines, speaks=PHASE_INIT in self.learned)

    @cached_property
    def early_verdict(self) -> Verdict:
        """The same by the limits from which on a standstill is watched: a person may be told by it."""
        return early_verdict(self.gang, self.early_limits, speaks=PHASE_INIT in self.learned)

    @cached_property
    def blames(self) -> tuple[Blame, ...]:
        """What failed of the nodes under the ranks."""
        return blames(self.gang, self.seen.sick, self.seen.places)

    @cached_property
    def marks(self) -> tuple[Blame, ...]:
        """What others say against the nodes under the ranks."""
        return marks(self.gang, self.seen.signals)

    @property
    def on_quarantined(self) -> bool:
        """Whether the current placement is on a node that new attempts avoid."""
        placement, avoided = self.gang.placement, self.seen.avoided
        return bool(avoided) and placement is not None and any(worker.node in avoided for worker in placement.workers)

    @property
    def moment(self) -> str:
        """``now`` as the API writes it."""
        return format_time(self.now)


class Step(Struct, frozen=True, kw_only=True):
    """The status after the step, what to tell people, and when to look again (seconds, None: no need)."""

    status: TrainingJobStatus
    events: tuple[Event, ...] = ()
    look_again: float | None = None

    def then(self, *events: Event, look_again: float | None = None, **changes: Any) -> "Step":
        """This step with more changes of the status, more events, or an earlier next look."""
        looks = [when for when in (self.look_again, look_again) if when is not None]
        return Step(
            status=msgspec.structs.replace(self.status, **changes),
            events=(*self.events, *events),
            look_again=min(looks) if looks else None,
        )

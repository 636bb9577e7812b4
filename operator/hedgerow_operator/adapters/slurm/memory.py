"""What one process remembers of a placement on Slurm from look to look."""

from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.slurm.comments import comment_of
from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.runs import Entry
from hedgerow_operator.core.slurm.seen import SlurmJob


class Known:
    """One placement. All moments are monotonic seconds.

    missing_since: the controller does not show it. asked_at: when we asked last that it ends. over_told: its end was
    shown to the decisions. silent: its nodes that did not answer at some time. waits_since: it waits although its
    launchers were told to train. alive: it was seen to run. awaited: it is about to change. gone: nothing is left.
    again: the batch job may be requeued. put_back: its run is over, and the batch job waits for the next (latest: as it
    is shown meanwhile).
    was_paused: somebody had suspended it.
    """

    def __init__(self, job: SlurmJob) -> None:
        self.job = job
        self.missing_since: float | None = None
        self.asked_at: float | None = None
        self.forced: frozenset[str] = frozenset()
        self.over_told = False
        self.silent: set[str] = set()
        self.waits_since: float | None = None
        self.alive = False
        self.awaited = False
        self.latest = job
        self.again = self.put_back = False
        self.was_paused = False
        self.gone = False

    def see(self, entry: Entry) -> None:
        """The controller shows it so. Of a run that is over what was seen last stays: its nodes are shown no more."""
        self.latest, self.again, self.put_back = entry.job, entry.again, entry.put_back
        if not entry.put_back:
            self.job = entry.job
        self.missing_since, self.gone = None, self.gone and entry.put_back

    def miss(self, now: float) -> float:
        """The controller does not show it; for how long it has not."""
        if self.missing_since is None:
            self.missing_since = now
        return now - self.missing_since


def stored(job: TrainingJob) -> SlurmJob | None:
    """The Slurm job of the current placement, as the status tells it; None: there is none that must have been there."""
    told = job.status.slurm
    if told is None or told.placement != job.status.placement:
        return None
    state, *flags = told.state.split("+")
    return SlurmJob(
        id=told.job_id,
        state=state,
        flags=frozenset(flags),
        comment=comment_of(job.metadata.uid, told.placement),
        name=job.metadata.name,
        nodes=expand(told.nodes),
        submitted_at=parse_optional_time(told.submitted_at),
    )


def as_it_ran(shown: Entry, before: SlurmJob | None) -> SlurmJob:
    """The job of a placement that this process has not seen yet. Where its run is over, Slurm shows it without the
    nodes on which ranks may live on, or with those of its next run; ``before``, as the status tells it, has them.
    """
    return shown.job if before is None or not shown.put_back or before.id != shown.job.id else before

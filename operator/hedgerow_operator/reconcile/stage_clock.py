"""How long each job has been where it is, on a clock that nobody can set.

What must not end early (a fence, a wait for ranks that may still live) goes by this and never by the time of day, which
may jump. An operator that begins anew knows nothing of the time before, and waits anew.
"""

from hedgerow_operator.api.status import TrainingJobStatus

_Place = tuple[int, str, str | None]


class StageClock:
    """Told of every status as it was read, with the seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[_Place, float]] = {}

    def seconds(self, uid: str, status: TrainingJobStatus, now: float) -> float:
        """Seconds since this stage of this attempt, with this moment of its fence, was first read here."""
        place = (status.attempt, status.attempt_stage, status.fenced_at)
        known, since = self._since.get(uid, (None, now))
        if known != place:
            since = now
        self._since[uid] = (place, since)
        return max(0.0, now - since)

    def forget(self, uid: str) -> None:
        """The job is gone."""
        self._since.pop(uid, None)

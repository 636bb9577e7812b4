"""A line for each piece of news, said once: for logs and pipes."""

from collections.abc import Callable

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED, FALSE, RUNNING, SUCCEEDED, TRUE
from hedgerow_operator.api.status import Condition
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import name_of
from hedgerow_operator.cli.views.news import Told, When, importance, told
from hedgerow_operator.core.plan import Event

# What passes sooner than this on the way to something else is no news.
SETTLED_SECONDS = 5.0


class Lines:
    """Timestamped lines: events, and what conditions tell beyond them."""

    def __init__(self, clock: Callable[[], float], write: Callable[[str], None]) -> None:
        self._clock = clock
        self._write = write
        self._told: dict[tuple[str, str], Told] = {}
        self._unsettled: dict[tuple[str, str], tuple[Condition, float]] = {}
        self._attempts: dict[str, int] = {}
        self._said: dict[str, list[str]] = {}  # in this attempt

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        name = name_of(job)
        if self._attempts.get(name) != job.status.attempt:
            self._attempts[name] = job.status.attempt
            self._said[name] = []
            self._told.pop((name, RUNNING), None)
        for condition in job.status.conditions:
            self._weigh(name, condition, job.spec.suspend)
        self._tell_settled()

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View. A run that is interrupted says in its own words that it stops."""
        name = name_of(job)
        interrupted = event.reason == reasons.SUSPENDING and not job.spec.suspend
        told_by_condition = self._told.get((name, SUCCEEDED)) == (TRUE, event.reason)
        repeated = any(event.message in said for said in self._said.get(name, ()))
        if not (interrupted or told_by_condition or repeated):
            self._tell(name, event.reason, event.message)

    def note(self, sentence: str) -> None:
        """See View."""
        self._line("hedgerow", sentence)

    def tick(self) -> None:
        """See View."""
        self._tell_settled()

    def close(self) -> None:
        """See View."""

    def _weigh(self, name: str, condition: Condition, asked_to_suspend: bool) -> None:
        place = name, condition.type
        when = importance(condition, self._told.get(place, (FALSE, "")), asked_to_suspend)
        if when is When.LATER:
            old, since = self._unsettled.get(place, (condition, self._clock()))
            self._unsettled[place] = condition, since if told(old) == told(condition) else self._clock()
            return
        self._unsettled.pop(place, None)
        if when is When.NOW:
            self._tell_condition(name, condition)
        else:
            self._told[place] = told(condition)

    def _tell_settled(self) -> None:
        for (name, kind), (condition, since) in list(self._unsettled.items()):
            if self._clock() - since >= SETTLED_SECONDS:
                del self._unsettled[name, kind]
                self._tell_condition(name, condition)

    def _tell_condition(self, name: str, condition: Condition) -> None:
        self._told[name, condition.type] = told(condition)
        head, message = f"{condition.type}={condition.status} {condition.reason}", condition.message
        if not message or not any(message in said or said in message for said in self._said.get(name, ())):
            self._tell(name, head, message)
        elif condition.type in (SUCCEEDED, FAILED):
            self._line(name, head)

    def _tell(self, name: str, head: str, message: str) -> None:
        if message:
            self._said.setdefault(name, []).append(message)
        self._line(name, f"{head}: {message}" if message else head)

    def _line(self, subject: str, text: str) -> None:
        self._write(f"{format_time(self._clock())} {subject} {text}\n")

"""Several views of one run."""

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.base import View
from hedgerow_operator.core.plan import Event


class Several:
    """Shows everything to each of them, in this order."""

    def __init__(self, *views: View) -> None:
        self._views = list(views)

    def drop(self, view: View) -> bool:
        """Show nothing more to this one; whether it was shown anything until now."""
        count = len(self._views)
        self._views = [other for other in self._views if other is not view]
        return len(self._views) < count

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        for view in self._views:
            view.changed(job)

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""
        for view in self._views:
            view.moved(job, phase)

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""
        for view in self._views:
            view.happened(job, event)

    def note(self, sentence: str) -> None:
        """See View."""
        for view in self._views:
            view.note(sentence)

    def tick(self) -> None:
        """See View."""
        for view in self._views:
            view.tick()

    def close(self) -> None:
        """See View."""
        for view in self._views:
            view.close()

"""The view of whoever is told through a webhook."""

import socket
from collections.abc import Callable
from typing import Any

from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.notify.news import news
from hedgerow_operator.cli.notify.shape import body
from hedgerow_operator.cli.views.silent import Silent


class Notices(Silent):
    """A message for each piece of news. How a job stood when this run began is none. clock: wall time."""

    def __init__(self, send: Callable[[dict[str, Any]], None], shape: str, clock: Callable[[], float]) -> None:
        self._send = send
        self._shape = shape
        self._clock = clock
        self._host = socket.gethostname()
        self._known: dict[str, TrainingJobStatus] = {}

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        before = self._known.get(job.metadata.uid)
        self._known[job.metadata.uid] = job.status
        if before is not None:
            for said in news(before, job.status):
                self._send(body(self._shape, job, said, self._host, self._clock()))

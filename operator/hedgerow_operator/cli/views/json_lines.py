"""One whole object a line at each change, for programs."""

import json
import sys

from hedgerow_operator.api.training_job import TrainingJob, training_job_fields
from hedgerow_operator.core.plan import Event


class JSONLines:
    """Objects on standard output, sentences about the run itself on standard error."""

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        print(json.dumps(training_job_fields(job), separators=(",", ":")), flush=True)

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""

    def note(self, sentence: str) -> None:
        """See View."""
        print(f"hedgerow: {sentence}", file=sys.stderr, flush=True)

    def tick(self) -> None:
        """See View."""

    def close(self) -> None:
        """See View."""

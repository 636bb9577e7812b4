"""The demo's story: what happens, why it is known, what it cost."""

from collections.abc import Callable
from pathlib import Path

from hedgerow.logs import launcher_lines
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import RUNNING, SUCCEEDED, is_true
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.story_text import INTRODUCTION, paragraph, summary, verdict
from hedgerow_operator.cli.views.story_times import Times
from hedgerow_operator.core.plan import Event

# The example says when it hangs; only this story reads it.
_FAULT = "fault:"


class Story:
    """Follows the one job of the demo. Times are measured here, as an onlooker would."""

    def __init__(
        self,
        write: Callable[[str], None],
        clock: Callable[[], float],
        log: Path,
        stored: Path,
        example: Path,
    ) -> None:
        self._write = write
        self._clock = clock
        self._log = log
        self._stored = stored
        self._example = example
        self._began = clock()
        self._read = 0
        self._stopping = False
        self._times = Times()
        self._job: TrainingJob | None = None
        self._running_attempt = 0

    def begin(self) -> None:
        """Say what will be run."""
        self._write(f"{paragraph(INTRODUCTION)}\n\n")

    def changed(self, job: TrainingJob) -> None:
        """See View."""
        self.tick()
        before, self._job = self._job, job
        incident = job.status.incident
        if incident is not None and (before is None or before.status.incident is None):
            self._times.verdict = self._clock()
            self._say(verdict(incident))
        if is_true(job.status.conditions, RUNNING) and job.status.attempt != self._running_attempt:
            self._running_attempt = job.status.attempt
            if job.status.attempt > 1 and self._times.running is None:
                self._times.running = self._clock()
            self._say(f"attempt {job.status.attempt}: all {job.spec.ranks} ranks run{self._again(job)}")

    def moved(self, job: TrainingJob, phase: str) -> None:
        """See View."""

    def happened(self, job: TrainingJob, event: Event) -> None:
        """See View."""
        if event.reason in (reasons.CHECKPOINT_CHOSEN, reasons.ATTEMPT_STARTED):
            self._say(event.message)
        if event.reason == reasons.ALL_RANKS_FINISHED:
            self.tick()
            self._say(f"FINISHED: {event.message} with exit code 0, at step {job.status.step}")

    def note(self, sentence: str) -> None:
        """See View. Success is told already, and its figures follow."""
        if not self._succeeded():
            self._say(sentence)

    def tick(self) -> None:
        """See View. Shows what the ranks printed, until they are stopped: how they die then explains nothing."""
        for line in self._new_lines():
            if line.startswith(_FAULT):
                self._times.hang = self._clock()
            if line.startswith(launcher_lines.PREFIX):
                self._follow(line)
            elif not self._stopping:
                self._say(f"    {line}")

    def close(self) -> None:
        """See View."""
        if self._job is not None and self._succeeded():
            self._write("\n" + summary(self._job, self._times, self._stored, self._example))

    def _follow(self, line: str) -> None:
        said = launcher_lines.parse(line)
        if said is not None and said.template in (launcher_lines.STOPPED, launcher_lines.STARTS):
            self._stopping = said.template == launcher_lines.STOPPED

    def _succeeded(self) -> bool:
        return self._job is not None and is_true(self._job.status.conditions, SUCCEEDED)

    def _again(self, job: TrainingJob) -> str:
        return " again" if job.status.attempt > 1 else ""

    def _new_lines(self) -> list[str]:
        try:
            with self._log.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole.decode(errors="replace").splitlines()

    def _say(self, text: str) -> None:
        text = text.replace(f"{self._example}/", "")
        moment = f"{self._clock() - self._began:5.1f} s  "
        self._write(paragraph(text, first=moment, rest=" " * len(moment)) + "\n")

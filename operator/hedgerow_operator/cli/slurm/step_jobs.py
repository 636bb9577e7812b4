"""The TrainingJobs of one script: each of its sruns is one, known by its program from batch job to batch job."""

import shlex
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec

from hedgerow.wire import Report
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import FileJobs, key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.state_file import read_job, write_job
from hedgerow_operator.adapters.slurm.steps.desk import Call
from hedgerow_operator.api.conditions import SUCCEEDED, is_true
from hedgerow_operator.api.metadata import DEFAULT_NAMESPACE
from hedgerow_operator.api.recovery import WEEK_SECONDS
from hedgerow_operator.api.slurm_spec import MAX_SCRIPT
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.cli.command_job import names
from hedgerow_operator.cli.outcome import is_finished
from hedgerow_operator.cli.slurm.own_options import manifest
from hedgerow_operator.reconcile.ports import JobKey

_SIGNALLED = 128
_NEVER_RAN = 1
_STARTUP = "startupTimeoutSeconds"


class StepJobs:
    """spec: parts of a TrainingJob's spec that the user gave."""

    def __init__(self, paths: StatePaths, jobs: FileJobs, spec: Mapping[str, Any]) -> None:
        self._paths = paths
        self._jobs = jobs
        self._spec = dict(spec)
        self._calls: dict[JobKey, Call] = {}
        self._codes: dict[JobKey, dict[int, int]] = {}
        self._trained: set[JobKey] = set()
        self._loaded: set[JobKey] = set()

    @property
    def stepped(self) -> bool:
        """Whether any of them has done a step in this batch job."""
        return bool(self._trained)

    def load(self) -> list[TrainingJob]:
        """Those that an earlier batch job has begun and not ended. Raises StateError, Unreachable."""
        found = [job for path in self._paths.objects() if (job := read_job(path)) is not None]
        loaded = [self._jobs.apply(job) for job in found if not is_finished(job)]
        self._loaded = {key_of(job) for job in loaded}
        return loaded

    def add(self, call: Call) -> bool:
        """Give a call of srun its name and uid; whether it goes on with a job of an earlier batch job. That may have
        ended in this one already, before the script has come to it.
        """
        key = next(key for name in names(call.program) if (key := JobKey(DEFAULT_NAMESPACE, name)) not in self._calls)
        self._calls[key] = call
        known = self._stored(key)
        goes_on = known is not None and (key in self._loaded or not is_finished(known))
        call.name, call.uid = key.name, known.metadata.uid if known and goes_on else str(uuid.uuid4())
        if not goes_on:
            self._paths.object(key).unlink(missing_ok=True)
        return goes_on

    def call(self, key: JobKey) -> Call | None:
        """The srun of a job in this batch job; None: the script has not come to it."""
        return self._calls.get(key)

    def calls(self) -> list[tuple[JobKey, Call]]:
        """All of them."""
        return list(self._calls.items())

    def key_of(self, uid: str) -> JobKey | None:
        """Of the job or call of this uid."""
        of_call = next((key for key, call in self._calls.items() if call.uid == uid), None)
        return of_call or self._jobs.key_of_uid(uid)

    def job(self, key: JobKey) -> TrainingJob | None:
        """As it is stored; None before its first launcher was heard."""
        return next((job for job in self._jobs.all() if key_of(job) == key), None)

    def hear(self, report: Report) -> TrainingJob | None:
        """A launcher has reported: the job that was made of it, or changed; None: none was."""
        key = self.key_of(report.job.uid)
        if key is None:
            return None
        self._note_codes(key, report)
        if self.job(key) is None:
            return self._made(key, report) if key in self._calls else None
        if key in self._trained or not any(rank.beats for rank in report.ranks):
            return None
        self._trained.add(key)
        return self._apply(key, self._spec)

    def exit_code(self, key: JobKey) -> int:
        """Of its srun, for the script: what became of the ranks counts over what became of srun."""
        call, job = self._calls[key], self.job(key)
        if job is not None and is_true(job.status.conditions, SUCCEEDED):
            return 0
        code = _NEVER_RAN if call.code is None else call.code
        if job is None or code == 0:
            return code
        return max(self._codes.get(key, {}).values(), default=0) or code

    def _stored(self, key: JobKey) -> TrainingJob | None:
        loaded = self.job(key)
        if loaded is not None:
            return loaded
        try:
            return read_job(self._paths.object(key))
        except StateError:
            return None

    def _made(self, key: JobKey, report: Report) -> TrainingJob:
        call = self._calls[key]
        script = shlex.join(["srun", *call.arguments])[:MAX_SCRIPT]
        fields = manifest(key.name, script, report.workers, report.ranks_per_worker, untrained(self._spec))
        job = training_job(fields)
        # Made with the uid that its launchers were started with.
        metadata = msgspec.structs.replace(job.metadata, uid=call.uid, generation=1)
        write_job(self._paths.object(key), msgspec.structs.replace(job, metadata=metadata))
        return self._jobs.apply(job)

    def _apply(self, key: JobKey, spec: Mapping[str, Any]) -> TrainingJob:
        job = self.job(key)
        assert job is not None
        assert job.spec.slurm is not None
        fields = manifest(key.name, job.spec.slurm.script, job.spec.workers, job.spec.ranks_per_worker, spec)
        return self._jobs.apply(msgspec.structs.replace(job, spec=training_job(fields).spec))

    def _note_codes(self, key: JobKey, report: Report) -> None:
        codes = [
            _SIGNALLED + rank.exit_signal if rank.exit_signal else rank.exit_code or 0
            for rank in report.ranks
            if rank.state == "Exited"
        ]
        self._codes.setdefault(key, {})[report.worker] = max(codes, default=0)


def untrained(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec until a first step is told: the srun may be no training at all, and none that stands still or fails is
    started anew. Unless its user says within which time each has to tell one.
    """
    health, recovery = spec.get("health", {}), spec.get("recovery", {})
    if _STARTUP in health:
        return dict(spec)
    return {**spec, "health": {**health, _STARTUP: WEEK_SECONDS}, "recovery": {**recovery, "maxRestarts": 0}}


def parsed(spec: Mapping[str, Any]) -> TrainingJobSpec:
    """The spec of a job of whatever size."""
    return training_job(manifest("job", "srun", 1, 1, spec)).spec

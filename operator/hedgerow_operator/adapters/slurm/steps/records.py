"""What is written down about a placement, so that the batch job that follows finds it again."""

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.local.files import read_bytes, write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.reconcile.ports import JobKey, Unreachable


class StepRecord(Struct, frozen=True, kw_only=True):
    """One placement: written before its srun starts, deleted when it is gone.

    run: of the batch job. created: epoch seconds. nodes: by worker, as far as its launchers were heard. steps: what
    it runs as, JOB.STEP. asked: it was asked to go.
    """

    uid: str
    attempt: int
    run: str
    created: float
    nodes: dict[int, str] = {}
    steps: tuple[str, ...] = ()
    asked: bool = False


class StepRecords:
    """The records of one state directory; the lock makes this the only writer."""

    def __init__(self, paths: StatePaths) -> None:
        self._paths = paths
        self._held: dict[JobKey, dict[int, StepRecord]] = {}

    def of(self, key: JobKey, uid: str) -> list[StepRecord]:
        """Those of a job, by attempt. Raises Unreachable."""
        if key not in self._held:
            self._held[key] = {record.attempt: record for record in self._read(key)}
        mine = [record for record in self._held[key].values() if record.uid == uid]
        return sorted(mine, key=lambda record: record.attempt)

    def write(self, key: JobKey, record: StepRecord) -> None:
        """Store it. Raises Unreachable."""
        path = self._paths.record(key, record.attempt)
        try:
            write_whole(path, msgspec.json.format(msgspec.json.encode(record)) + b"\n")
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from None
        self._held.setdefault(key, {})[record.attempt] = record

    def drop(self, key: JobKey, attempt: int) -> None:
        """Forget a placement that is gone."""
        self._paths.record(key, attempt).unlink(missing_ok=True)
        self._held.get(key, {}).pop(attempt, None)

    def _read(self, key: JobKey) -> list[StepRecord]:
        found = []
        for path in self._paths.records(key):
            try:
                data = read_bytes(path)
                found += [] if data is None else [msgspec.json.decode(data, type=StepRecord)]
            except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
                raise Unreachable(f"{path} cannot be read: {error}") from None
        return found

"""What a controller leaves in the state directory for those who look at its jobs: whose they are, how they stand."""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.local.files import read_bytes, write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.training_job import TrainingJob, training_job, training_job_fields
from hedgerow_operator.reconcile.ports import JobKey


class SessionRecord(Struct, frozen=True, kw_only=True):
    """The last session of a state directory. jobs: NAMESPACE/NAME of each. again: the command that goes on with them.
    folder: where it was given.
    """

    jobs: tuple[str, ...]
    again: str
    folder: str

    def covers(self, key: JobKey) -> bool:
        """Whether the job is one of its."""
        return full_name(key) in self.jobs


class Live(Struct, frozen=True):
    """A job as the newest reports show it, and the phase that its ranks are in."""

    job: TrainingJob
    phase: str


def full_name(key: JobKey) -> str:
    """``namespace/name``."""
    return f"{key.namespace}/{key.name}"


def write_session(paths: StatePaths, record: SessionRecord) -> None:
    """Raises OSError."""
    write_whole(paths.session, msgspec.json.encode(record) + b"\n")


def read_session(paths: StatePaths) -> SessionRecord | None:
    """None when there is none, or nothing that can be read."""
    try:
        data = read_bytes(paths.session)
        return None if data is None else msgspec.json.decode(data, type=SessionRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_live(paths: StatePaths, jobs: Iterable[Live]) -> None:
    """Replace what is there. It is not synced: after a crash of the machine nothing is live. Raises OSError."""
    data = json.dumps([{"phase": entry.phase, "job": training_job_fields(entry.job)} for entry in jobs])
    part = _part(paths)
    part.unlink(missing_ok=True)
    with part.open("x") as file:
        file.write(data)
    part.replace(paths.live)


def read_live(paths: StatePaths) -> tuple[Live, ...]:
    """Empty when there is nothing, or nothing that can be read."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        data = read_bytes(paths.live)
        return tuple(Live(training_job(entry["job"]), str(entry["phase"])) for entry in json.loads(data or b"[]"))
    return ()


def forget_live(paths: StatePaths) -> None:
    """Nobody writes it any more."""
    with contextlib.suppress(OSError):
        paths.live.unlink(missing_ok=True)


def _part(paths: StatePaths) -> Path:
    return paths.live.with_name(f".{paths.live.name}.part")

"""The options of `hedgerow sbatch` that sbatch does not have, among those that it has."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from hedgerow import environment
from hedgerow_operator.api.labels import API_VERSION, TRAINING_JOB_KIND
from hedgerow_operator.api.validate import checked
from hedgerow_operator.api.yaml_text import YAMLTextError, read_documents
from hedgerow_operator.core.slurm.sbatch_options import NONE, REQUIRED, CommandLine, parse, without

STATE_VARIABLE = "HEDGEROW_STATE"
DEFAULT_STATE = Path("~/.hedgerow/sbatch")
# Parts of a TrainingJob's spec that fit a script of one's own.
PARTS = ("checkpoint", "heartbeat", "health", "alerts", "recovery", "cost")
_OWN = {
    **dict.fromkeys(("checkpoint-dir", "state-dir", "job-spec"), REQUIRED),
    **dict.fromkeys(("no-successor", "supervise"), NONE),
}


class OwnOptions(Struct, frozen=True, kw_only=True):
    """state: folder of all submissions. spec: parts of a TrainingJob's. successor: whether a batch job may follow."""

    state: Path
    spec: dict[str, Any] = {}
    successor: bool = True


def split(words: Sequence[str], variables: Mapping[str, str]) -> tuple[OwnOptions, CommandLine]:
    """Our options, and what is left for sbatch. Raises click.ClickException with a sentence."""
    line = parse(words, _OWN)
    found = {flag.name: flag for flag in line.flags if flag.name in _OWN}
    for flag in found.values():
        if _OWN[flag.name] == REQUIRED and not flag.value:
            raise click.ClickException(f"--{flag.name} needs a value; write --{flag.name}=…")
    values = {name: flag.value or "" for name, flag in found.items()}
    return _own(values, variables), replace(line, flags=without(line.flags, _OWN))


def _own(found: Mapping[str, str], variables: Mapping[str, str]) -> OwnOptions:
    state = found.get("state-dir") or variables.get(STATE_VARIABLE)
    spec = _spec_in(found["job-spec"]) if "job-spec" in found else {}
    directory = found.get("checkpoint-dir") or variables.get(environment.CHECKPOINT_DIRECTORY)
    if directory:
        spec = {**spec, "checkpoint": {**spec.get("checkpoint", {}), "directory": os.path.abspath(directory)}}
    _check(spec)
    return OwnOptions(
        state=Path(state).absolute() if state else DEFAULT_STATE.expanduser(),
        spec=spec,
        successor="no-successor" not in found,
    )


def _spec_in(path: str) -> dict[str, Any]:
    try:
        documents = list(read_documents(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        why = error.strerror or error
        raise click.ClickException(f"--job-spec {path} cannot be read: {why}; name a YAML file that is there") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"--job-spec {path} is no text in UTF-8; name a YAML file") from None
    except YAMLTextError as error:
        raise click.ClickException(f"--job-spec {path}, line {error.line}: {error}") from None
    fields = documents[0].fields if len(documents) == 1 else None
    if not isinstance(fields, dict):
        raise click.ClickException(f"--job-spec {path}: write one object with any of {', '.join(PARTS)}")
    strange = sorted(set(fields) - set(PARTS))
    if strange:
        raise click.ClickException(
            f"--job-spec {path}: {strange[0]} is said by the script and sbatch's options; leave it out, and write any "
            f"of {', '.join(PARTS)}"
        )
    return fields


def _check(spec: Mapping[str, Any]) -> None:
    job, problems = checked(manifest("job", "srun …", 1, 1, spec))
    if job is None:
        raise click.ClickException(f"--job-spec: {problems[0].sentence}")


def manifest(name: str, script: str, workers: int, ranks: int, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The TrainingJob of one srun, as in a manifest."""
    slurm = {"script": script, "launch": "PerTask"}
    return {
        "apiVersion": API_VERSION,
        "kind": TRAINING_JOB_KIND,
        "metadata": {"name": name},
        "spec": {"workers": workers, "ranksPerWorker": ranks, "slurm": slurm, **spec},
    }

"""Finds our objects in a file, a folder or standard input, and says in a sentence each what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hedgerow_operator.api.checked_objects import ENDPOINTS, PROVIDERS, checked_object
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.labels import (
    GROUP,
    INFERENCE_ENDPOINT_KIND,
    SERVERLESS_PROVIDER_KIND,
    TRAINING_JOB_KIND,
)
from hedgerow_operator.api.problem import Problem
from hedgerow_operator.api.serverless_provider import ServerlessProvider
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.api.validate import checked
from hedgerow_operator.api.yaml_text import Document, YAMLTextError, read_documents

STANDARD_INPUT = "-"
SUFFIXES = (".yaml", ".yml", ".json")


class ManifestError(Exception):
    """One thing that is wrong: a sentence and where, as FILE:LINE or FILE. unreadable: there is nothing to judge."""

    def __init__(self, where: str, sentence: str, *, unreadable: bool = False) -> None:
        super().__init__(f"{where}: {sentence}")
        self.where = where
        self.sentence = sentence
        self.unreadable = unreadable


@dataclass(frozen=True)
class Source:
    """One text with manifests. folder: what relative paths in them count from."""

    name: str
    text: str
    folder: Path


@dataclass(frozen=True)
class FoundJob:
    """A job and where it is written (FILE:LINE). folder: what its workingDir counts from. fields: as it is written."""

    job: TrainingJob
    where: str
    folder: Path
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundEndpoint:
    """An endpoint and where it is written (FILE:LINE)."""

    endpoint: InferenceEndpoint
    where: str


@dataclass(frozen=True)
class FoundProvider:
    """A provider and where it is written (FILE:LINE)."""

    provider: ServerlessProvider
    where: str


@dataclass(frozen=True)
class OtherObject:
    """An object of a kind that is not Hedgerow's, such as the claim that a job mounts."""

    where: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.where}: skipped {self.fields['kind']}, which needs a cluster"


@dataclass(frozen=True)
class Doubt:
    """A word that not every reader of YAML reads alike: a sentence and where, as FILE:LINE."""

    where: str
    sentence: str


@dataclass(frozen=True)
class Manifests:
    """What was found. others: objects of kinds that are not Hedgerow's."""

    jobs: tuple[FoundJob, ...]
    errors: tuple[ManifestError, ...]
    others: tuple[OtherObject, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    endpoints: tuple[FoundEndpoint, ...] = ()
    providers: tuple[FoundProvider, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each object of a kind that is not Hedgerow's."""
        return tuple(map(str, self.others))


Ours = FoundJob | FoundEndpoint | FoundProvider
Found = Ours | ManifestError | OtherObject | Doubt


def load_manifests(path: str) -> Manifests:
    """The manifests in a file, in the files of a folder (not of those inside it), or "-" for standard input."""
    sources: list[Source] = []
    errors: list[ManifestError] = []
    for name in _file_names(path, errors):
        try:
            sources.append(_read(name))
        except (OSError, UnicodeDecodeError) as error:
            errors.append(ManifestError(name, _read_failure(error), unreadable=True))
    found = parse_manifests(sources)
    errors.extend(found.errors)
    if not (found.jobs or found.endpoints or found.providers or errors):
        errors.append(ManifestError(path, f"holds no {TRAINING_JOB_KIND}; write at least one", unreadable=True))
    return replace(found, errors=tuple(errors))


def parse_manifests(sources: Iterable[Source]) -> Manifests:
    """The manifests in these texts. Pure."""
    ours: dict[tuple[str, str, str], Ours] = {}
    errors: list[ManifestError] = []
    others: list[OtherObject] = []
    doubts: list[Doubt] = []
    for source in sources:
        for found in _found(source):
            if isinstance(found, OtherObject):
                others.append(found)
            elif isinstance(found, Doubt):
                doubts.append(found)
            elif isinstance(found, ManifestError):
                errors.append(found)
            else:
                what, _namespace, name = key = _name(found)
                first = ours.setdefault(key, found)
                if first is not found:
                    errors.append(ManifestError(found.where, f'{what} "{name}" is written at {first.where} already'))
    return Manifests(
        tuple(one for one in ours.values() if isinstance(one, FoundJob)),
        tuple(errors),
        tuple(others),
        tuple(doubts),
        tuple(one for one in ours.values() if isinstance(one, FoundEndpoint)),
        tuple(one for one in ours.values() if isinstance(one, FoundProvider)),
    )


def _name(found: Ours) -> tuple[str, str, str]:
    """What it is called, of its kind and namespace."""
    if isinstance(found, FoundJob):
        return "job", found.job.metadata.namespace, found.job.metadata.name
    if isinstance(found, FoundEndpoint):
        return "endpoint", found.endpoint.metadata.namespace, found.endpoint.metadata.name
    return "provider", found.provider.metadata.namespace, found.provider.metadata.name


def _found(source: Source) -> Iterator[Found]:
    try:
        for document in read_documents(source.text):
            yield from (Doubt(f"{source.name}:{doubt.line}", str(doubt)) for doubt in document.ambiguities)
            for place, fields in _objects(document.fields):
                yield from _judged(source, document, place, fields)
    except YAMLTextError as error:
        yield ManifestError(f"{source.name}:{error.line}", str(error), unreadable=True)


def _objects(fields: Any) -> Iterator[tuple[str, Any]]:
    """The objects in a document with their places: itself, or the items of a list as kubectl prints one."""
    if isinstance(fields, dict) and str(fields.get("kind")).endswith("List") and isinstance(fields.get("items"), list):
        yield from ((f"items[{index}]", item) for index, item in enumerate(fields["items"]))
    else:
        yield "", fields


def _judged(source: Source, document: Document, place: str, fields: Any) -> Iterator[Found]:
    def where(at: str) -> str:
        return f"{source.name}:{document.line('.'.join(part for part in (place, at) if part))}"

    if _is_foreign(fields):
        yield OtherObject(where(""), fields)
        return
    found, problems = _checked(fields, where(""), source)
    yield from (ManifestError(where(problem.at), problem.sentence) for problem in problems)
    if found is not None:
        yield found


def _checked(fields: Any, where: str, source: Source) -> tuple[Ours | None, tuple[Problem, ...]]:
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if kind == INFERENCE_ENDPOINT_KIND:
        endpoint, problems = checked_object(fields, ENDPOINTS)
        return None if endpoint is None else FoundEndpoint(endpoint, where), problems
    if kind == SERVERLESS_PROVIDER_KIND:
        provider, problems = checked_object(fields, PROVIDERS)
        return None if provider is None else FoundProvider(provider, where), problems
    job, problems = checked(fields)
    return None if job is None else FoundJob(job, where, source.folder, fields), problems


def _is_foreign(fields: Any) -> bool:
    """Whether this is a complete object of somebody else's kind."""
    if not isinstance(fields, dict) or not fields.get("kind") or not fields.get("apiVersion"):
        return False
    return fields["kind"] != TRAINING_JOB_KIND and not str(fields["apiVersion"]).startswith(f"{GROUP}/")


def _file_names(path: str, errors: list[ManifestError]) -> list[str]:
    if path == STANDARD_INPUT or Path(path).is_file():
        return [path]
    if not Path(path).is_dir():
        odd = "neither a file nor a folder; to read from a pipe, write -f -" if Path(path).exists() else ""
        errors.append(ManifestError(path, odd or "no such file or folder", unreadable=True))
        return []
    names = sorted(str(file) for file in Path(path).iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not names:
        sentence = f"holds no file that ends in {', '.join(SUFFIXES)}; folders in it are not looked into"
        errors.append(ManifestError(path, sentence, unreadable=True))
    return names


def _read(name: str) -> Source:
    if name == STANDARD_INPUT:
        return Source("standard input", sys.stdin.read(), Path.cwd())
    file = Path(name)
    return Source(name, file.read_text(encoding="utf-8-sig"), file.resolve().parent)


def _read_failure(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8 text (byte {error.start})"
    return f"cannot be read: {error.strerror}"

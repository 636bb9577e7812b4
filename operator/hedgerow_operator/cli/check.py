"""`hedgerow check`: what would go wrong with a job, found before it costs anything."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from hedgerow_operator.api.manifests import FoundJob, Manifests, load_manifests
from hedgerow_operator.api.metadata import DEFAULT_NAMESPACE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.check_parts import (
    checkpoint,
    command,
    endpoints,
    local,
    pod,
    resources,
    slurm,
    template_types,
)
from hedgerow_operator.cli.check_parts.finding import ERROR, FINE, WARNING, Finding
from hedgerow_operator.cli.launching import launch_of
from hedgerow_operator.cli.outcome import name_of

NO_ERRORS = 0
ERRORS = 1
UNREADABLE = 2


class CheckOptions(msgspec.Struct, frozen=True):
    """context: of the cluster to ask, empty: the current one, None: none. The rest as `hedgerow check --help` says."""

    context: str | None = None
    namespace: str | None = None
    probe: bool = False
    report_url: str | None = None
    image: str | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What -o json prints."""

    findings: tuple[Finding, ...]
    errors: int
    warnings: int


def run_check(path: str, options: CheckOptions, output: str | None) -> int:
    """Print every finding; the exit code."""
    found = load_manifests(path)
    findings = [*manifest_findings(found), *(finding for job in found.jobs for finding in offline(job, found))]
    findings += endpoints.findings(found)
    if options.context is not None and found.jobs:
        findings += _asked(found, options)
    jobs = ["", *(name_of(job.job) for job in found.jobs), *(finding.job for finding in findings)]
    findings.sort(key=lambda finding: jobs.index(finding.job))  # what is of no job first, the rest job by job
    outcome = Outcome(tuple(findings), _count(findings, ERROR), _count(findings, WARNING))
    click.echo(msgspec.json.encode(outcome).decode() if output == "json" else "\n".join(lines(outcome)))
    if any(error.unreadable for error in found.errors):
        return UNREADABLE
    return ERRORS if outcome.errors else NO_ERRORS


def manifest_findings(found: Manifests) -> Iterator[Finding]:
    """What is wrong by the schema and the rules, and what kubectl would read otherwise."""
    for error in found.errors:
        yield Finding(ERROR, "manifest", error.sentence, error.where)
    for doubt in found.doubts:
        yield Finding(WARNING, "yaml", doubt.sentence, doubt.where)


def offline(found: FoundJob, among: Manifests) -> list[Finding]:
    """What is to say about a job that keeps the rules, without any cluster."""
    job, spec = found.job, found.job.spec
    wrong = list(template_types.findings(spec))
    if wrong:
        return of_job(job, wrong)
    folder = None
    findings = [Finding(FINE, "manifest", "keeps the schema and every rule of this release", found.where)]
    if spec.local is not None:
        folder = Path(os.path.normpath(found.folder / spec.local.working_dir))
    launch = launch_of(spec, folder)
    findings += [*command.findings(spec, launch), *checkpoint.resume_findings(spec, launch)]
    if folder is not None:
        findings += local.findings(spec, folder)
    elif spec.slurm is not None:
        findings += slurm.findings(job)
    else:
        findings += checkpoint.findings(spec, claims_beside(found, among))
        findings += [*resources.findings(spec), *pod.findings(spec)]
    return of_job(job, findings)


def claims_beside(found: FoundJob, among: Manifests) -> Callable[[str], Mapping[str, Any] | None]:
    """Finds a claim of the job's namespace among the manifests beside it."""

    def find(name: str) -> Mapping[str, Any] | None:
        for other in among.others:
            metadata = other.fields.get("metadata") or {}
            namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
            if other.fields["kind"] != "PersistentVolumeClaim" or metadata.get("name") != name:
                continue
            if namespace == found.job.metadata.namespace:
                return other.fields
        return None

    return find


def of_job(job: TrainingJob, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each with the name of its job."""
    return [msgspec.structs.replace(finding, job=name_of(job)) for finding in findings]


def lines(outcome: Outcome) -> Iterator[str]:
    """The findings for people, those of each job below its name, and the sum."""
    width = max((len(finding.about) for finding in outcome.findings), default=0)
    job = ""
    for finding in outcome.findings:
        if finding.job != job:
            yield finding.job
            job = finding.job
        where = f"{finding.where}: " if finding.where and finding.level != FINE else ""
        yield f"  {finding.level:7}  {finding.about:{width}}  {where}{finding.sentence}"
    yield f"{_plural(outcome.errors, 'error')}, {_plural(outcome.warnings, 'warning')}"


def _asked(found: Manifests, options: CheckOptions) -> list[Finding]:
    try:
        from hedgerow_operator.adapters.kube.connection import NotConfigured
        from hedgerow_operator.cli.check_cluster import cluster_findings
    except ImportError:
        sentence = "--context needs the Kubernetes client; install it with: pip install 'hedgerow[operator]'"
        return [Finding(ERROR, "cluster", sentence)]
    try:
        return asyncio.run(cluster_findings(found, options))
    except NotConfigured as error:
        return [Finding(ERROR, "cluster", str(error))]
    except asyncio.CancelledError:
        raise click.Abort from None


def _count(findings: Iterable[Finding], level: str) -> int:
    return sum(finding.level == level for finding in findings)


def _plural(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}" if count == 1 else f"{count or 'no'} {noun}s"

"""The part of `hedgerow check` that asks a cluster, check by check."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Sequence

import msgspec

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.connection import context_namespace, load_configuration, make_client
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.manifests import FoundJob, Manifests
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.cli.check import CheckOptions, of_job
from hedgerow_operator.cli.check_parts import template_types
from hedgerow_operator.cli.check_parts.cluster import access, kinds, operators, probe, references, slurm, trial
from hedgerow_operator.cli.check_parts.cluster.operators import Operator
from hedgerow_operator.cli.check_parts.cluster.site import FORBIDDEN, Check, Site, looked
from hedgerow_operator.cli.check_parts.finding import ERROR, WARNING, Finding
from hedgerow_operator.cli.render import DEFAULT_REPORT_URL, default_image, known
from hedgerow_operator.reconcile.ports import Unreachable

_CHECKS: tuple[tuple[str, Check], ...] = (
    ("access", access.findings),
    ("job", trial.job_findings),
    ("names", references.findings),
    ("checkpoint", references.claim_findings),
    ("pod", trial.pod_findings),
    ("operator", operators.service_findings),
)
_ON_SLURM: tuple[tuple[str, Check], ...] = (
    ("access", access.findings),
    ("job", trial.job_findings),
    ("slurm", slurm.findings),
)


async def cluster_findings(found: Manifests, options: CheckOptions) -> list[Finding]:
    """What the cluster says about these jobs. Raises NotConfigured when nothing says how it is reached."""
    async with _asking(options) as ask:
        try:
            kind = await kinds.finding(ask)
        except (Unreachable, Rejected) as error:
            return [Finding(ERROR, "cluster", f"the cluster cannot be asked: {error}")]
        if kind.level == ERROR:
            return [kind]
        seen = await _operators(ask)
        findings = [kind]
        for one in found.jobs:
            job = _placed(one, options)
            findings += of_job(job, await _of(ask, job, one, found, seen, options))
        return findings


async def _of(
    ask: Inquiry, job: TrainingJob, one: FoundJob, found: Manifests, seen: Sequence[Operator] | Finding,
    options: CheckOptions,
) -> list[Finding]:  # fmt: skip
    if any(template_types.findings(job.spec)):
        return []  # told already, and no server can say more
    on_slurm = job.spec.slurm is not None and job.spec.slurm.cluster_ref is not None
    if job.spec.kubernetes is None and not on_slurm:
        place = "local" if job.spec.local is not None else "slurm without clusterRef"
        return [Finding(WARNING, "cluster", f"has spec.{place}: hedgerow local runs it, the cluster does not")]
    if isinstance(seen, Finding):
        responsible, told = None, [seen]
    else:
        namespace = job.metadata.namespace
        responsible, told = operators.responsible(seen, namespace), operators.findings(seen, namespace)
    site = Site(ask, job, one.fields, [other.fields for other in found.others], _injection(responsible, options))
    checks = _ON_SLURM if on_slurm else [*_CHECKS, ("probe", probe.findings)] if options.probe else _CHECKS
    for topic, check in checks:
        told += await looked(topic, check, site)
    return told


def _injection(responsible: Operator | None, options: CheckOptions) -> Injection:
    """As the options say, else as the operator does it, else as its chart does."""
    injection = Injection(image=default_image(), report_url=DEFAULT_REPORT_URL)
    if responsible is not None:
        injection = responsible.injection(injection)
    given = {"image": options.image, "report_url": options.report_url and options.report_url.rstrip("/")}
    return msgspec.structs.replace(injection, **{name: value for name, value in given.items() if value})


async def _operators(ask: Inquiry) -> Sequence[Operator] | Finding:
    """The operators of the cluster, or why they could not be looked for."""
    try:
        return await operators.installed(ask)
    except Rejected as error:
        why = "you may not see the Deployments of the cluster" if error.status == FORBIDDEN else str(error)
    except Unreachable as error:
        why = str(error)
    return Finding(
        WARNING,
        "operator",
        f"could not be looked for, {why}; what follows supposes the chart's defaults, or --report-url and --image",
    )


def _placed(one: FoundJob, options: CheckOptions) -> TrainingJob:
    """The job in the namespace that it would be created in."""
    job = known(one)
    if (one.fields.get("metadata") or {}).get("namespace"):
        return job
    namespace = options.namespace or context_namespace(options.context or "")
    return msgspec.structs.replace(job, metadata=msgspec.structs.replace(job.metadata, namespace=namespace))


@contextlib.asynccontextmanager
async def _asking(options: CheckOptions) -> AsyncIterator[Inquiry]:
    """The API server of the chosen context; SIGTERM ends what goes on as Ctrl-C does, clean-up included."""
    client = make_client(await load_configuration(options.context or ""))
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield Inquiry(client)
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        await client.close()  # type: ignore[no-untyped-call]

"""Whether the API server would take the job, and a pod of it: its own schema, rules, admission and quota."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.build.placement import placement_job
from hedgerow_operator.cli.check_parts.cluster.quota import quota_findings
from hedgerow_operator.cli.check_parts.cluster.site import FORBIDDEN, Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.cli.render import FIRST

_job_error, _job_warning, _job_fine = about("job")
_pod_error, _pod_warning, _pod_fine = about("pod")

# Written by the server alone; an apply that carries them is refused or means something else.
_SERVER_FIELDS = frozenset(
    {"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink", "deletionTimestamp"}
)


async def job_findings(site: Site) -> list[Finding]:
    """What the server has against the job."""
    metadata = {name: entry for name, entry in site.fields["metadata"].items() if name not in _SERVER_FIELDS}
    body = {**site.fields, "metadata": {**metadata, "namespace": site.namespace}}
    body.pop("status", None)
    path = paths.training_job(site.namespace, site.job.metadata.name)
    exists = await site.ask.find(path) is not None
    try:
        if exists:
            await site.ask.would_apply(path, body)
        else:
            await site.ask.would_create(path.rpartition("/")[0], body)
    except Rejected as error:
        if error.status == FORBIDDEN and "admission" not in str(error):
            raise
        return [_job_error(f"the API server refuses it: {error}")]
    what = "this change of it" if exists else "it"
    return [_job_fine(f"the API server would take {what} (its schema, its rules, its admission)")]


async def pod_findings(site: Site) -> list[Finding]:
    """What the server has against a pod of the job, and whether the quota has room for all of them."""
    try:
        pod = await site.ask.would_create(paths.pods(site.namespace), rendered_pod(site))
    except Rejected as error:
        if error.status == FORBIDDEN and "cannot create resource" in str(error):
            return [_pod_warning(f"a pod could not be tried, as you may not create any: {error}")]
        return [_pod_error(f"the API server refuses the pods of this job: {error}")]
    fine = _pod_fine("the API server would take a pod of this job (Pod Security, quota, limits, admission)")
    return [fine, *await quota_findings(site, pod)]


def rendered_pod(site: Site) -> dict[str, Any]:
    """One pod as the Job's controller would create it."""
    template = placement_job(site.job, FIRST, (), site.injection)["spec"]["template"]
    metadata = {**template["metadata"], "namespace": site.namespace, "generateName": f"{site.job.metadata.name}-1-0-"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}

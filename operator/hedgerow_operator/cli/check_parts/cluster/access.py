"""What the user may do with jobs in the namespace."""

from __future__ import annotations

from hedgerow_operator.api.labels import GROUP, TRAINING_JOB_PLURAL
from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.cli.check_parts.finding import Finding, about

_error, _warning, _fine = about("access")

_NEEDED = ("create", "get")
# verb, group, resource: what is lost without it.
_USEFUL = (
    ("list", GROUP, TRAINING_JOB_PLURAL, "kubectl get tj"),
    ("watch", GROUP, TRAINING_JOB_PLURAL, "kubectl get tj -w"),
    ("patch", GROUP, TRAINING_JOB_PLURAL, "kubectl apply on a job that exists, and suspending it"),
    ("delete", GROUP, TRAINING_JOB_PLURAL, "removing the job"),
    ("get", "", "pods/log", "reading what the ranks print"),
    ("list", "", "events", "seeing what Hedgerow did"),
)


async def findings(site: Site) -> list[Finding]:
    """Errors for what a job cannot be made without, warnings for the rest."""
    where = f"in namespace {site.namespace}"
    missing = [verb for verb in _NEEDED if not await site.ask.may(site.namespace, verb, GROUP, TRAINING_JOB_PLURAL)]
    if missing:
        return [_error(f"you may not {' or '.join(missing)} {TRAINING_JOB_PLURAL}.{GROUP} {where}; ask for that right")]
    lost = [
        f"{verb} {resource} ({use})"
        for verb, group, resource, use in _USEFUL
        if not await site.ask.may(site.namespace, verb, group, resource)
    ]
    if lost:
        return [_warning(f"you may create jobs {where}, but not {'; '.join(lost)}")]
    return [_fine(f"you may create, watch, change and delete jobs {where}, and read their pods' output")]

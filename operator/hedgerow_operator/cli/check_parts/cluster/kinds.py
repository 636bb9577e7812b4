"""Whether the cluster knows the kind TrainingJob, and of which release."""

from __future__ import annotations

from importlib.metadata import version

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.labels import GROUP, TRAINING_JOB_KIND, TRAINING_JOB_PLURAL, VERSION
from hedgerow_operator.cli.check_parts.finding import Finding, about

_error, _warning, _fine = about("kind")

_GROUPS = f"/apis/{GROUP}"
_CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{TRAINING_JOB_PLURAL}.{GROUP}"
_RELEASE = "app.kubernetes.io/version"


async def finding(ask: Inquiry) -> Finding:
    """What is to say about the kind. Raises Unreachable, and Rejected for what is not about the kind."""
    group = await ask.find(_GROUPS)
    if group is None:
        return _error(f"the cluster does not know {TRAINING_JOB_KIND}: install Hedgerow by its chart, charts/hedgerow")
    served = [str(entry.get("version")) for entry in group.get("versions") or []]
    if VERSION not in served:
        return _error(
            f"the cluster serves {TRAINING_JOB_KIND} as {', '.join(served)}, and this hedgerow writes {VERSION}; use "
            "the release that is installed there"
        )
    release = await _release(ask)
    told = f"the cluster serves {GROUP}/{VERSION}"
    if release and release != version("hedgerow"):
        return _warning(f"{told} of release {release}, and this is hedgerow {version('hedgerow')}; fields may differ")
    return _fine(f"{told}{f' of release {release}' if release else ''}")


async def _release(ask: Inquiry) -> str:
    """The release that the CRD was installed by; empty where it does not say so, or may not be seen."""
    try:
        metadata = await ask.metadata(_CRD)
    except Rejected:
        return ""
    return str((metadata.get("labels") or {}).get(_RELEASE, ""))

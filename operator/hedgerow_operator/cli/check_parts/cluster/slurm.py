"""The SlurmCluster that a job names: whether it is there, answers, and allows the job's namespace."""

from __future__ import annotations

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.api.conditions import TRUE, find_condition
from hedgerow_operator.api.labels import SLURM_CLUSTER_KIND
from hedgerow_operator.api.slurm_cluster import READY, REST, slurm_cluster
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.core.slurm.clusters import identity
from hedgerow_operator.core.slurm.refusals import NO_REQUEUE

_error, _warning, _fine = about("slurm")


async def findings(site: Site) -> list[Finding]:
    """What is to say about the cluster of a job with slurm.clusterRef."""
    slurm = site.job.spec.slurm
    assert slurm is not None
    assert slurm.cluster_ref is not None
    namespace, name = slurm.cluster_ref.namespace or site.namespace, slurm.cluster_ref.name
    place = f"{SLURM_CLUSTER_KIND} {namespace}/{name}"
    fields = await site.ask.find(paths.slurm_cluster(namespace, name))
    if fields is None and site.is_beside(SLURM_CLUSTER_KIND, name):
        return [_fine(f"{place} comes with these manifests")]
    if fields is None:
        return [_error(f"there is no {place}; create it, or correct slurm.clusterRef")]
    cluster = slurm_cluster(fields)
    if slurm.resubmit == REQUEUE and cluster.spec.driver == REST:
        return [_error(f"resubmit: Requeue: {NO_REQUEUE}")]
    ready = find_condition(cluster.status.conditions, READY)
    if ready is None:
        return [_warning(f"nobody has asked {place} yet: the operator needs slurm.enabled of its chart")]
    who = identity(cluster, site.namespace)
    if who.refusal:
        return [(_warning if who.unproven else _error)(who.refusal)]
    if ready.status != TRUE:
        return [_warning(f"{place} could not be asked lately: {ready.message}")]
    acting = f", where the job is {who.user}'s" if who.user else ""
    return [_fine(f"{place} answers{acting}: Slurm {cluster.status.version}, {cluster.status.nodes} nodes")]

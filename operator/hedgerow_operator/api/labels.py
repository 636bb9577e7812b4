"""Every name that Hedgerow gives to or reads from a Kubernetes object."""

from __future__ import annotations

GROUP = "hedgerow.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

TRAINING_JOB_KIND = "TrainingJob"
TRAINING_JOB_PLURAL = "trainingjobs"
TRAINING_JOB_SHORT_NAME = "tj"
GPU_NODE_KIND = "GPUNode"
GPU_NODE_PLURAL = "gpunodes"
GPU_NODE_SHORT_NAME = "gn"
SLURM_CLUSTER_KIND = "SlurmCluster"
SLURM_CLUSTER_PLURAL = "slurmclusters"
SLURM_CLUSTER_SHORT_NAME = "slc"
INFERENCE_ENDPOINT_KIND = "InferenceEndpoint"
INFERENCE_ENDPOINT_PLURAL = "inferenceendpoints"
INFERENCE_ENDPOINT_SHORT_NAME = "ie"
SERVERLESS_PROVIDER_KIND = "ServerlessProvider"
SERVERLESS_PROVIDER_PLURAL = "serverlessproviders"
SERVERLESS_PROVIDER_SHORT_NAME = "sp"
CATEGORY = "hedgerow"

FIELD_MANAGER = "hedgerow"
TOKEN_AUDIENCE = "hedgerow"  # noqa: S105  (a name, not a secret)

LABEL_JOB = f"{GROUP}/job"
LABEL_JOB_UID = f"{GROUP}/job-uid"
LABEL_PLACEMENT = f"{GROUP}/placement"
LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGED_BY = "hedgerow"

ANNOTATION_LEARNED_DURATIONS = f"{GROUP}/learned-durations"
ANNOTATION_LEARNED_PACE = f"{GROUP}/learned-pace"
# Of an InferenceEndpoint: which gateway may spend what part of its budget, as JSON.
ANNOTATION_BUDGET_LEASES = f"{GROUP}/budget-leases"
# Of a job on a SlurmCluster: digests of its launchers' tokens, newest first; the batch job that we have cancelled.
ANNOTATION_REPORT_TOKENS = f"{GROUP}/report-token-digests"
ANNOTATION_CANCELLED_SLURM_JOB = f"{GROUP}/cancelled-slurm-job"
# Which attempt each run of its batch job is, where that is requeued: the first one's number, a colon, one for each run.
ANNOTATION_SLURM_RUNS = f"{GROUP}/slurm-runs"
# It is not deleted before its Slurm job has ended.
FINALIZER_SLURM = f"{GROUP}/slurm"
# Of a GPUNode that is no node of Kubernetes: namespace/name of the SlurmCluster whose node it is.
ANNOTATION_SLURM_CLUSTER = f"{GROUP}/slurm-cluster"
# Of a placement: the nodes that it was made to avoid, with commas between them.
ANNOTATION_AVOIDED_NODES = f"{GROUP}/avoided-nodes"

# Of a node that we have tainted: the taint's key, and what tells that it is ours, for which quarantine, until when.
TAINT_QUARANTINED = f"{GROUP}/quarantined"
LABEL_TAINTED = f"{GROUP}/tainted"
ANNOTATION_TAINT_CAUSE = f"{GROUP}/taint-cause"
ANNOTATION_TAINT_UNTIL = f"{GROUP}/taint-until"

# Set by Kubernetes itself.
ANNOTATION_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
LABEL_WORKER_INDEX = "batch.kubernetes.io/job-completion-index"

# A pod's host name is NAME-PLACEMENT-INDEX and its own name adds 6 more; a DNS label has 63 characters.
# What is left after a placement and an index of 5 digits each is the job's.
MAX_JOB_NAME_LENGTH = 45


def placement_name(job: str, placement: int) -> str:
    """Name of the placement of ``job`` whose first attempt is ``placement``."""
    return f"{job}-{placement}"


def placement_labels(job: str, uid: str, placement: int) -> dict[str, str]:
    """Labels of everything that belongs to one placement."""
    return {
        LABEL_JOB: job,
        LABEL_JOB_UID: uid,
        LABEL_PLACEMENT: str(placement),
        LABEL_MANAGED_BY: MANAGED_BY,
    }

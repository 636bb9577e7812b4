"""The PyTorch example on the cluster: not a word of Hedgerow in its script, and it comes back all the same."""

from collections.abc import Iterator

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import PYTORCH, example, spread_over_nodes
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster


@pytest.fixture(scope="module")
def job(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch) -> Iterator[Job]:
    """The example after it has ended."""
    del operator, watch  # must be there
    with restricted_namespace(cluster, "pytorch-ddp") as namespace:
        (manifest,) = (entry for entry in example("pytorch-ddp") if entry["kind"] == "TrainingJob")
        spread_over_nodes(manifest, "pytorch-ddp")
        job = Job.apply(cluster, namespace, manifest)
        job.wait_state("Succeeded", timeout=150)
        yield job


def test_progress_is_seen_through_the_optimizer_and_the_rank_that_hung_is_named(job: Job, watch: AttemptWatch) -> None:
    status = job.status
    assert "import hedgerow" not in (PYTORCH / "train.py").read_text()
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], status["restarts"]) == ("NoProgress", [2], 1), job.story()
    watch.check(job.uid)


def test_it_resumes_from_the_last_whole_checkpoint_and_finishes(job: Job) -> None:
    status = job.status
    assert (status["resumeStep"], status["step"]) == (20, 60)
    assert len({pod["spec"]["nodeName"] for pod in job.pods()}) == 2

"""Manifests that the API server refuses by the CRD alone, with a sentence that helps, and those that it takes."""

import json
import os
import subprocess

import pytest

from tests.cluster.bad_manifests import BadManifest, bad_manifests
from tests.cluster.scenario.manifests import Fields, quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError

pytestmark = pytest.mark.usefixtures("lives")  # goes on meanwhile

BAD = bad_manifests()
CHANGES = {
    "workers": {"workers": 3},
    "ranksPerWorker": {"ranksPerWorker": 1},
    "checkpoint": {"checkpoint": {"directory": "/elsewhere"}},
    "kubernetes": {"kubernetes": {"template": {"spec": {"nodeSelector": {"pool": "new"}}}}},
    "recovery.fenceSeconds": {"recovery": {"fenceSeconds": 75}},
}


def refusal(cluster: Cluster, namespace: str, *arguments: str, stdin: str | None = None) -> str:
    """What kubectl says when the API server refuses the request."""
    try:
        done = cluster.kubectl("-n", namespace, *arguments, stdin=stdin)
    except ClusterError as error:
        return str(error)
    pytest.fail(f"was not refused: {done}")


@pytest.fixture(scope="module")
def refusals(cluster: Cluster, chart: InstalledOperator) -> list[str]:
    """What is said of all of them, a line each."""
    del chart  # brings the CRD
    files = [word for case in BAD.values() for word in ("-f", str(case.path))]
    done = subprocess.run(
        [cluster.site.program("kubectl"), "-n", "default", "apply", "--dry-run=server", *files],
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stderr.splitlines()


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_a_manifest_that_cannot_work_is_refused_with_a_sentence_that_helps(
    refusals: list[str], case: BadManifest
) -> None:
    (said,) = (line for line in refusals if f'"{case.path}"' in line)
    assert [text for text in case.expected if text not in said] == [], said


def suspended() -> Fields:
    """A job that runs nothing."""
    return quickstart("kept", spec={"suspend": True})


@pytest.mark.usefixtures("chart")
def test_a_change_that_would_need_another_job_is_refused_and_names_the_field(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(suspended()))
    for field, change in CHANGES.items():
        patch = json.dumps({"spec": change})
        said = refusal(cluster, namespace, "patch", "tj", "kept", "--type=merge", "-p", patch)
        assert f"{field} cannot change after creation; delete the job and create it again" in said


def test_what_may_change_is_taken(cluster: Cluster, namespace: str, chart: InstalledOperator) -> None:
    del chart  # brings the CRD
    cluster.kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(suspended()))
    change = {"spec": {"suspend": False, "recovery": {"maxRestarts": 7}, "health": {"stall": {"minSeconds": 4}}}}
    patched = cluster.kubectl("-n", namespace, "patch", "tj", "kept", "--type=merge", "-p", json.dumps(change))
    assert "patched" in patched

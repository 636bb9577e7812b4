"""`hedgerow check` against the real API server: what it finds, that it changes nothing, and its one pod."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.api.yaml_text import YAMLTextError, read_documents
from tests.cluster.scenario.manifests import Fields, all_on, as_text, in_pods, quickstart
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.waiting import wait_for

PROBES = "labelSelector=hedgerow.dev%2Fcheck"
# Nobody answers there (RFC 5737).
NOWHERE = "http://192.0.2.1:8080"
Findings = list[dict[str, str]]


@pytest.fixture(scope="module")
def home(cluster: Cluster, operator: InstalledOperator, lost_nodes: "Future[object]") -> Iterator[str]:
    """A restricted namespace with the quickstart's code and storage."""
    del operator, lost_nodes  # runs; goes on meanwhile
    with restricted_namespace(cluster) as namespace:
        yield namespace


@pytest.fixture
def empty(cluster: Cluster) -> Iterator[str]:
    """A namespace with nothing in it; the lost nodes stay lost, unlike with the fixture `namespace`."""
    with cluster.namespace() as name:
        yield name


def command(path: Path, *options: str) -> list[str]:
    """The command line of a check."""
    return [
        sys.executable,
        "-m",
        "hedgerow_operator.cli",
        "check",
        "-f",
        str(path),
        "--context",
        *options,
        "-o",
        "json",
    ]


def environment(kubeconfig: Path) -> dict[str, str]:
    """Its environment."""
    return {**os.environ, "KUBECONFIG": str(kubeconfig)}


def check(cluster: Cluster, path: Path, *options: str, kubeconfig: Path | None = None) -> tuple[int, Findings]:
    """The exit code and the findings."""
    done = subprocess.run(
        command(path, *options),
        env=environment(kubeconfig or cluster.kubeconfig),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout, done.stderr
    findings: Findings = json.loads(done.stdout)["findings"]
    return done.returncode, findings


def write(folder: Path, *objects: Fields) -> Path:
    """A file with these objects."""
    path = folder / "job.json"
    path.write_text(as_text(*objects))
    return path


def sentences(findings: Findings, level: str) -> list[str]:
    """The sentences of this level."""
    return [finding["sentence"] for finding in findings if finding["level"] == level]


def probes(cluster: Cluster, namespace: str) -> list[Any]:
    """The pods that checks have started and that are there."""
    return list(cluster.api.get(f"/api/v1/namespaces/{namespace}/pods?{PROBES}")["items"])


def test_a_job_that_is_fine_is_told_so_and_a_pod_reaches_the_report_url(
    cluster: Cluster, home: str, tmp_path: Path
) -> None:
    path = write(tmp_path, all_on(NODE, quickstart("fine")))
    code, findings = check(cluster, path, "-n", home, "--probe")
    assert (sentences(findings, "error"), code) == ([], 0)
    fine = "\n".join(sentences(findings, "fine"))
    for want in (
        "the cluster serves hedgerow.dev/v1alpha1 of release",
        "runs and watches namespace",
        f"you may create, watch, change and delete jobs in namespace {home}",
        "the API server would take it",
        "there are ConfigMap quickstart, PersistentVolumeClaim quickstart",
        "is in the claim quickstart, which every worker can write to",
        "the API server would take a pod of this job",
        "where 1 answers",
        f"a pod on {NODE} reached http://",
    ):
        assert want in fine
    assert probes(cluster, home) == []
    assert cluster.api.get(f"/apis/hedgerow.dev/v1alpha1/namespaces/{home}/trainingjobs")["items"] == []


def test_what_is_missing_or_refused_is_an_error_each_and_nothing_is_created(
    cluster: Cluster, home: str, tmp_path: Path
) -> None:
    pod = {
        "serviceAccountName": "nobody",
        "securityContext": {"runAsNonRoot": False},
        "imagePullSecrets": [{"name": "registry"}],
        "volumes": [{"name": "checkpoints", "persistentVolumeClaim": {"claimName": "gone"}}],
    }
    job = in_pods(quickstart("amiss"), pod)
    job["spec"]["kubernetes"]["template"]["spec"]["containers"][0]["volumeMounts"].pop(0)
    code, findings = check(cluster, write(tmp_path, job), "-n", home)
    errors = "\n".join(sentences(findings, "error"))
    assert code == 1
    for want in ("ServiceAccount nobody", "Secret registry", "PersistentVolumeClaim gone"):
        assert f"there is no {want} in namespace {home}" in errors
    assert "the API server refuses the pods of this job" in errors
    assert cluster.api.get(f"/api/v1/namespaces/{home}/pods")["items"] == []


def test_pod_security_is_judged_by_the_server(cluster: Cluster, home: str, tmp_path: Path) -> None:
    job = in_pods(quickstart("root"), {"hostNetwork": True})
    code, findings = check(cluster, write(tmp_path, job), "-n", home)
    (error,) = sentences(findings, "error")
    assert code == 1
    assert 'violates PodSecurity "restricted' in error
    assert "hostNetwork=true" in error


def test_a_quota_that_has_room_for_one_of_two_workers_is_an_error(cluster: Cluster, empty: str, tmp_path: Path) -> None:
    cluster.kubectl("-n", empty, "create", "quota", "small", "--hard=pods=1,requests.cpu=1")
    path = f"/api/v1/namespaces/{empty}/resourcequotas/small"
    wait_for("the quota to be counted", lambda: (cluster.api.get(path)["status"] or {}).get("used"), 30)
    job = quickstart("large")
    _code, findings = check(cluster, write(tmp_path, job), "-n", empty)
    assert any(
        "the quota small allows 1 of pods and has room for 1 of 2 workers now" in sentence
        for sentence in sentences(findings, "error")
    ), findings


def test_a_change_that_the_server_refuses_is_told_in_its_words(cluster: Cluster, home: str, tmp_path: Path) -> None:
    job = quickstart("kept", spec={"suspend": True})
    cluster.kubectl("-n", home, "create", "-f", "-", stdin=json.dumps(job))
    job["spec"]["workers"] = 3
    code, findings = check(cluster, write(tmp_path, job), "-n", home)
    cluster.kubectl("-n", home, "delete", "tj", "kept")
    (error,) = sentences(findings, "error")
    assert code == 1
    assert "workers cannot change after creation" in error


def test_a_user_with_few_rights_is_told_what_could_not_be_looked_at(
    cluster: Cluster, home: str, tmp_path: Path
) -> None:
    kubeconfig = _user(cluster, home, tmp_path, "--verb=get,create", "--resource=trainingjobs.hedgerow.dev")
    code, findings = check(cluster, write(tmp_path, quickstart("few")), "-n", home, kubeconfig=kubeconfig)
    warnings = "\n".join(sentences(findings, "warning"))
    assert (sentences(findings, "error"), code) == ([], 0)
    assert "but not list trainingjobs" in warnings
    assert "a pod could not be tried, as you may not create any" in warnings
    assert "could not be looked for, you may not see the Deployments of the cluster" in warnings
    assert "whether there is ConfigMap quickstart could not be looked at" in warnings


def test_a_user_without_rights_gets_an_error_for_that(cluster: Cluster, home: str, tmp_path: Path) -> None:
    kubeconfig = _user(cluster, home, tmp_path, "--verb=get", "--resource=configmaps")
    code, findings = check(cluster, write(tmp_path, quickstart("none")), "-n", home, kubeconfig=kubeconfig)
    assert code == 1
    assert f"you may not create or get trainingjobs.hedgerow.dev in namespace {home}; ask for that right" in sentences(
        findings, "error"
    )


def _user(cluster: Cluster, namespace: str, folder: Path, *rights: str) -> Path:
    """A kubeconfig of somebody who has these rights in the namespace, and no others."""
    name = f"user-{folder.name[-20:].strip('_0').replace('_', '-')}"
    cluster.kubectl("-n", namespace, "create", "serviceaccount", name)
    cluster.kubectl("-n", namespace, "create", "role", name, *rights)
    cluster.kubectl(
        "-n", namespace, "create", "rolebinding", name, f"--role={name}", f"--serviceaccount={namespace}:{name}"
    )
    token = cluster.kubectl("-n", namespace, "create", "token", name).strip()
    config = json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    config["users"] = [{"name": entry["name"], "user": {"token": token}} for entry in config["users"]]
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


def test_an_address_where_nobody_answers_is_found_by_the_probe_which_leaves_no_pod(
    cluster: Cluster, home: str, tmp_path: Path
) -> None:
    path = write(tmp_path, all_on(NODE, quickstart("astray")))
    code, findings = check(cluster, path, "-n", home, "--probe", "--report-url", NOWHERE)
    (error,) = sentences(findings, "error")
    assert code == 1
    assert error.startswith(f"a pod on {NODE} could not reach {NOWHERE}: ")
    assert probes(cluster, home) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_check_that_is_interrupted_leaves_no_pod(
    number: signal.Signals, cluster: Cluster, home: str, tmp_path: Path
) -> None:
    path = write(tmp_path, all_on(NODE, quickstart("cut-short")))
    running = subprocess.Popen(
        command(path, "-n", home, "--probe", "--report-url", NOWHERE),
        env=environment(cluster.kubeconfig),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for("the pod of the check", lambda: probes(cluster, home), 60)
    running.send_signal(number)
    _out, said = running.communicate(timeout=60)
    assert running.returncode not in (0, None)
    assert "Traceback" not in said
    wait_for("the pod to be gone", lambda: not probes(cluster, home), 30)


READ_BY_KUBECTL = {"yes": True, "Off": False, "1_000": 1000, "0b11": 3, "0o17": 15, "12:00:00": "12:00:00"}


def test_what_is_said_about_kubectl_is_true(cluster: Cluster, empty: str) -> None:
    for word, want in READ_BY_KUBECTL.items():
        assert _by_kubectl(cluster, empty, word) == want, word
    with pytest.raises(YAMLTextError, match="420 to kubectl"):
        list(read_documents("a: 0644"))
    assert _by_kubectl(cluster, empty, "0644") == 420


def _by_kubectl(cluster: Cluster, namespace: str, word: str) -> object:
    """What kubectl makes of a word, in a place where any type may be."""
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\nany: {word}\n"
    arguments = ("-n", namespace, "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-")
    return json.loads(cluster.kubectl(*arguments, stdin=text))["any"]

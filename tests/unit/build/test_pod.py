"""What is added to the user's pods, and what is left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec import structs

from hedgerow_operator.build.injection import LAUNCHER, init_container
from hedgerow_operator.build.pod import pod_template
from tests.unit.build.examples import INJECTION, UID, crowded_template, job, job_of, plain_template, rich_template


def built(template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return pod_template(job(template, **spec), 3, (), INJECTION)


def wrapped(pod: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in pod["spec"]["containers"] if entry["name"] == "trainer")


def environment(pod: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in wrapped(pod)["env"]}


def test_the_users_template_is_not_changed_in_place() -> None:
    template = rich_template()
    before = copy.deepcopy(template)
    pod_template(job(template), 1, ("node-a",), INJECTION)
    assert template == before


def test_everything_that_hedgerow_does_not_need_passes_through_untouched() -> None:
    template = rich_template()
    spec = built(template)["spec"]
    ours = {"initContainers", "containers", "volumes", "affinity", "restartPolicy", "terminationGracePeriodSeconds"}
    assert {name: spec[name] for name in spec if name not in ours} == {
        name: value for name, value in template["spec"].items() if name not in ours
    }
    assert spec["containers"][0] == template["spec"]["containers"][0]
    assert spec["initContainers"][1:] == template["spec"]["initContainers"]
    assert spec["affinity"] == template["spec"]["affinity"]


def test_how_the_ranks_are_started_is_passed_on_only_where_it_is_said() -> None:
    assert environment(built(rich_template(), processes="PerWorker"))["HEDGEROW_PROCESSES"] == "PerWorker"
    assert "HEDGEROW_PROCESSES" not in environment(built(rich_template()))


def test_labels_and_annotations_are_added_to_those_of_the_user() -> None:
    metadata = built(rich_template())["metadata"]
    assert metadata["annotations"] == rich_template()["metadata"]["annotations"]
    assert metadata["labels"] == {
        "team": "vision",
        "hedgerow.dev/job": "bert",
        "hedgerow.dev/job-uid": UID,
        "hedgerow.dev/placement": "3",
        "app.kubernetes.io/managed-by": "hedgerow",
    }


def test_a_user_cannot_replace_the_labels_that_tell_whose_pod_it_is() -> None:
    template = plain_template() | {"metadata": {"labels": {"hedgerow.dev/job-uid": "another"}}}
    assert built(template)["metadata"]["labels"]["hedgerow.dev/job-uid"] == UID


def test_the_launcher_comes_before_the_command_and_the_arguments_stay() -> None:
    container = wrapped(built(rich_template()))
    assert container["command"] == [*LAUNCHER, "python", "-u", "train.py"]
    assert container["args"] == ["--epochs", "3"]


def test_our_variables_come_first_so_that_the_users_may_refer_to_them() -> None:
    names = [entry["name"] for entry in wrapped(built(rich_template()))["env"]]
    assert names[-1] == "DATA"
    assert "HEDGEROW_NODE" in names[:-1]


def test_the_launcher_is_told_everything_about_its_job() -> None:
    recovery = {"fenceSeconds": 60, "graceSeconds": 5}
    found = environment(built(rich_template(), checkpoint={"directory": "/ckpt"}, recovery=recovery))
    expected = {
        "HEDGEROW_JOB_UID": UID,
        "HEDGEROW_JOB_NAMESPACE": "research",
        "HEDGEROW_JOB_NAME": "bert",
        "HEDGEROW_PLACEMENT": "3",
        "HEDGEROW_WORKERS": "2",
        "HEDGEROW_NPROC": "4",
        "HEDGEROW_REPORT_URL": INJECTION.report_url,
        "HEDGEROW_CHECKPOINT_DIRECTORY": "/ckpt",
        "HEDGEROW_CHECKPOINT_VERIFY": "Content",
        "HEDGEROW_CHECKPOINT_ON_INVALID": "MoveAside",
        "HEDGEROW_FENCE_SECONDS": "60",
        "HEDGEROW_GRACE_SECONDS": "90",
    }
    assert expected.items() <= found.items()


def test_without_checkpoints_the_launcher_is_told_of_no_directory() -> None:
    assert not any(name.startswith("HEDGEROW_CHECKPOINT") for name in environment(built(plain_template())))


def test_only_the_wrapped_container_gets_the_token() -> None:
    mounts = {
        container["name"]: [mount["name"] for mount in container.get("volumeMounts", [])]
        for part in ("containers", "initContainers")
        for container in built(rich_template())["spec"][part]
    }
    assert [name for name, names in mounts.items() if "hedgerow-token" in names] == ["trainer"]


@pytest.mark.parametrize(
    ("of_the_user", "grace", "expected"),
    [
        pytest.param(None, 30, 40, id="unset: what the launcher needs"),
        pytest.param(5, 30, 40, id="too short for the launcher: what it needs"),
        pytest.param(90, 30, 100, id="longer than graceSeconds: the ranks get it all"),
        pytest.param(None, 0, 10, id="no grace for ranks: still time to report and leave"),
    ],
)
def test_the_pod_is_given_time_to_stop_its_ranks(of_the_user: int | None, grace: int, expected: int) -> None:
    template = plain_template()
    if of_the_user is not None:
        template["spec"]["terminationGracePeriodSeconds"] = of_the_user
    assert built(template, recovery={"graceSeconds": grace})["spec"]["terminationGracePeriodSeconds"] == expected


@pytest.mark.parametrize(
    ("of_the_user", "expected"),
    [
        pytest.param(None, 30 + 10 + 30, id="unset: as long as Kubernetes would give"),
        pytest.param(600, 600 + 10 + 600, id="what the user has measured out for hook and ranks"),
    ],
)
def test_a_hook_before_the_stop_takes_no_time_from_the_ranks(of_the_user: int | None, expected: int) -> None:
    template = crowded_template()
    template["spec"]["terminationGracePeriodSeconds"] = of_the_user
    pod = pod_template(job_of({"template": template, "container": "trainer"}), 1, (), INJECTION)
    assert pod["spec"]["terminationGracePeriodSeconds"] == expected
    assert wrapped(pod)["lifecycle"] == wrapped(template)["lifecycle"]


def test_ranks_get_the_grace_of_their_pods_when_that_is_longer() -> None:
    assert environment(built(rich_template()))["HEDGEROW_GRACE_SECONDS"] == "90"


def test_the_container_that_spec_names_is_wrapped_whatever_the_annotation_says() -> None:
    kubernetes = {"template": rich_template(), "container": "logs"}
    spec = pod_template(job_of(kubernetes), 1, (), INJECTION)["spec"]
    assert spec["containers"][0]["command"] == [*LAUNCHER, "ship"]
    assert spec["containers"][1] == rich_template()["spec"]["containers"][1]


def test_the_launcher_runs_on_its_own_python_with_nothing_of_the_images() -> None:
    assert all(word.startswith("/hedgerow/") for word in LAUNCHER if "/" in word)
    assert {"-I", "-S", "--inhibit-cache"} <= set(LAUNCHER)
    assert not {"PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "PATH"} & set(environment(built(plain_template())))


def test_a_library_that_the_user_preloads_is_kept_from_the_launcher() -> None:
    template = rich_template()
    entry = {"name": "LD_PRELOAD", "value": "/usr/lib/libtcmalloc.so.4"}
    template["spec"]["containers"][1]["env"] = [entry]
    assert wrapped(built(template))["env"][-1] == {**entry, "name": "HEDGEROW_LD_PRELOAD"}


@pytest.mark.parametrize(
    ("change", "policy"),
    [
        pytest.param({}, None, id="the cluster's: as Kubernetes has it"),
        pytest.param({"hostNetwork": True}, "ClusterFirstWithHostNet", id="the node's: the cluster's names too"),
        pytest.param({"hostNetwork": True, "dnsPolicy": "Default"}, "Default", id="what the user has chosen stays"),
    ],
)
def test_the_report_server_has_a_name_on_either_network(change: dict[str, Any], policy: str | None) -> None:
    template = plain_template()
    template["spec"] |= change
    assert built(template)["spec"].get("dnsPolicy") == policy


def test_our_container_comes_first_and_is_restricted_even_in_a_pod_that_runs_as_root() -> None:
    template = plain_template()
    template["spec"]["securityContext"] = {"runAsUser": 0}
    ours = built(template)["spec"]["initContainers"][0]
    assert ours["name"] == "hedgerow-inject"
    context = ours["securityContext"]
    assert context["runAsNonRoot"]
    assert context["runAsUser"] > 0
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert context["readOnlyRootFilesystem"]


def test_our_container_does_not_change_the_quality_of_service_of_the_pod() -> None:
    resources = built(plain_template())["spec"]["initContainers"][0]["resources"]
    assert resources["requests"] == resources["limits"]
    assert set(resources["limits"]) == {"cpu", "memory"}


def test_our_container_asks_for_storage_where_that_is_wanted() -> None:
    container = init_container(structs.replace(INJECTION, ephemeral_storage="64Mi"))
    assert container["resources"]["limits"]["ephemeral-storage"] == "64Mi"


def test_a_container_that_fails_has_the_end_of_its_output_as_its_message() -> None:
    spec = built(plain_template())["spec"]
    assert spec["initContainers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert spec["containers"][0]["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_a_policy_for_termination_messages_that_the_user_chose_is_kept() -> None:
    template = plain_template()
    template["spec"]["containers"][0]["terminationMessagePolicy"] = "File"
    assert built(template)["spec"]["containers"][0]["terminationMessagePolicy"] == "File"

"""What is added to the user's pods, and what is left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hedgerow_operator.build.pod import pod_template
from tests.unit.build.examples import INJECTION, UID, job, plain_template, rich_template


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
    assert container["command"] == ["python3", "/hedgerow/hedgerow.pyz", "run", "--", "python", "-u", "train.py"]
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
        "HEDGEROW_FENCE_SECONDS": "60",
        "HEDGEROW_GRACE_SECONDS": "5",
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
        pytest.param(90, 30, 90, id="longer than needed: the user's"),
        pytest.param(None, 0, 10, id="no grace for ranks: still time to report and leave"),
    ],
)
def test_the_pod_is_given_time_to_stop_its_ranks(of_the_user: int | None, grace: int, expected: int) -> None:
    template = plain_template()
    if of_the_user is not None:
        template["spec"]["terminationGracePeriodSeconds"] = of_the_user
    assert built(template, recovery={"graceSeconds": grace})["spec"]["terminationGracePeriodSeconds"] == expected


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

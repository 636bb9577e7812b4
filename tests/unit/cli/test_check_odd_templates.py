"""Whatever stands in a pod template that the rules let through, a check says something and never fails."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_operator.api.validate import checked
from hedgerow_operator.cli.check import CheckOptions, run_check
from hedgerow_operator.cli.check_parts import template_types
from hedgerow_operator.cli.render import show_rendered
from tests.unit.cli.check_builders import manifest, spec_of, told

NAMES = (
    "name", "requests", "limits", "nvidia.com/gpu", "memory", "mountPath", "readOnly", "emptyDir", "hostPath",
    "persistentVolumeClaim", "claimName", "secret", "configMap", "projected", "sources", "medium", "restartPolicy",
)  # fmt: skip
LEAVES = st.sampled_from([None, True, 0, 8, -1, 1.5, "", "v", "/ckpt", "8", "Always", "yes", "/dev/shm", "a:b:c@d"])
ODD = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)
OF_CONTAINER = ("resources", "volumeMounts", "securityContext", "livenessProbe", "envFrom", "workingDir", "image")
OF_POD = ("volumes", "initContainers", "hostNetwork", "nodeName", "nodeSelector", "affinity", "activeDeadlineSeconds",
          "imagePullSecrets", "hostIPC", "terminationGracePeriodSeconds")  # fmt: skip


@given(
    container=st.dictionaries(st.sampled_from(OF_CONTAINER), ODD, max_size=4),
    pod=st.dictionaries(st.sampled_from(OF_POD), ODD, max_size=4),
    words=st.lists(
        st.sampled_from(["bash", "-c", "torchrun", "--", "-m", "a.py", "'", "a && b |", "$(", "", "-", "="])
    ),
)
def test_a_check_of_odd_templates_ends_with_a_sum(
    container: dict[str, Any], pod: dict[str, Any], words: list[str]
) -> None:
    fields = manifest(words or None, container=container, pod=pod, checkpoint={"directory": "/ckpt"}, ranksPerWorker=8)
    if checked(fields)[1]:
        return  # refused before
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("click.echo", said.append)
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(fields))
        assert run_check(str(path), CheckOptions(), None) in (0, 1)
        assert "warning" in said[-1].splitlines()[-1]


TYPES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "resources that are text": ({"resources": "big"}, {}, "containers[0].resources: must be an object"),
    "limits that are a list": ({"resources": {"limits": [8]}}, {}, "containers[0].resources.limits: must be an object"),
    "pull secrets that are an object": ({}, {"imagePullSecrets": {}}, "imagePullSecrets: must be a list of objects"),
    "a claim's name that is a number": (
        {},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": 7}}]},
        "volumes[0].persistentVolumeClaim.claimName: must be text",
    ),
    "hostIPC as text": ({}, {"hostIPC": "yes"}, "hostIPC: must be true or false"),
    "a deadline as text": ({}, {"activeDeadlineSeconds": "60"}, "activeDeadlineSeconds: must be a whole number"),
}
# What goes into the Job otherwise than it was written: the API server refuses it when the TrainingJob is applied.
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "volumes that are an object": ({}, {"volumes": {"ckpt": {}}}, "volumes"),
    "init containers that are text": ({}, {"initContainers": ["setup"]}, "initContainers[0]"),
    "hostNetwork as text": ({}, {"hostNetwork": "yes"}, "hostNetwork"),
    "a grace as text": ({}, {"terminationGracePeriodSeconds": "60s"}, "terminationGracePeriodSeconds"),
    "an affinity that is a list": ({}, {"affinity": []}, "affinity"),
    "a hook that is text": ({"lifecycle": "stop"}, {}, "containers[0].lifecycle"),
    "mounts that are an object": ({"volumeMounts": {}}, {}, "containers[0].volumeMounts"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_field_that_is_built_upon_is_refused_when_it_has_another_type(case: str) -> None:
    container, pod, place = REFUSED[case]
    _job, problems = checked(manifest(container=container, pod=pod))
    (problem,) = problems
    assert str(problem).startswith(f"spec.kubernetes.template.spec.{place}: must be of type ")


@pytest.mark.parametrize("case", TYPES)
def test_a_field_of_another_type_than_kubernetes_gives_it_is_an_error(case: str) -> None:
    container, pod, want = TYPES[case]
    (sentence,) = told(template_types.findings(spec_of(manifest(container=container, pod=pod))))
    assert sentence == f"error: spec.kubernetes.template.spec.{want}, as in any pod; Kubernetes would refuse the Job"


def test_null_counts_as_left_out() -> None:
    fields = manifest(container={"resources": None}, pod={"volumes": None, "affinity": None})
    assert told(template_types.findings(spec_of(fields))) == []


def test_render_says_it_in_the_same_sentence(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(manifest(pod={"imagePullSecrets": "x"})))
    with pytest.raises(click.ClickException, match=r"template\.spec.imagePullSecrets: must be a list of objects"):
        show_rendered(str(path), None, None, tmp_path)

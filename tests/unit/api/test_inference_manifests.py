"""InferenceEndpoint and ServerlessProvider: bad manifests are refused in one sentence each, by CEL and Python alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cel
import pytest

from hedgerow_operator.api.checked_objects import ENDPOINTS, PROVIDERS, Kind, checked_object
from hedgerow_operator.api.crdgen import inference_endpoint_crd, render, serverless_provider_crd
from hedgerow_operator.api.labels import API_VERSION
from hedgerow_operator.api.model import to_builtins
from tests.unit.api.bad_inference_manifests import BAD_ENDPOINTS, BAD_PROVIDERS, GOOD_ENDPOINTS, GOOD_PROVIDERS
from tests.unit.api.test_crd import nodes

CRDS = Path(__file__).parents[3] / "crds"
GOOD = [(ENDPOINTS, name, spec) for name, spec in GOOD_ENDPOINTS.items()]
GOOD += [(PROVIDERS, name, spec) for name, spec in GOOD_PROVIDERS.items()]
BAD = [(ENDPOINTS, name, *case) for name, case in BAD_ENDPOINTS.items()]
BAD += [(PROVIDERS, name, *case) for name, case in BAD_PROVIDERS.items()]


def manifest(kind: Kind[Any], spec: dict[str, Any], name: str = "a") -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind.name, "metadata": {"name": name}, "spec": spec}


def refused_by_cel(kind: Kind[Any], spec: dict[str, Any], name: str = "a") -> set[str]:
    fields = to_builtins(kind.read(manifest(kind, spec, name)))
    values = {"": {"self": fields}, "spec": {"self": fields["spec"]}}
    return {f"{rule.place}: {rule.message}" for rule in kind.rules if not cel.evaluate(rule.cel, values[rule.at])}


def refused_by_python(kind: Kind[Any], spec: dict[str, Any], name: str = "a") -> set[str]:
    found = kind.read(manifest(kind, spec, name))
    values = {"": found, "spec": found.spec}
    return {f"{rule.place}: {rule.message}" for rule in kind.rules if not rule.holds(values[rule.at])}


@pytest.mark.parametrize(("kind", "name", "spec"), GOOD, ids=[f"{kind.name}: {name}" for kind, name, _ in GOOD])
def test_is_taken(kind: Kind[Any], name: str, spec: dict[str, Any]) -> None:
    found, problems = checked_object(manifest(kind, spec), kind)
    assert [str(problem) for problem in problems] == []
    assert found is not None
    assert refused_by_cel(kind, spec) == set()


@pytest.mark.parametrize(("kind", "name", "spec", "said"), BAD, ids=[f"{kind.name}: {name}" for kind, name, *_ in BAD])
def test_is_refused_in_one_sentence(kind: Kind[Any], name: str, spec: dict[str, Any], said: str) -> None:
    found, problems = checked_object(manifest(kind, spec), kind)
    assert found is None
    (problem,) = problems
    assert said in problem.sentence
    assert "\n" not in problem.sentence


@pytest.mark.parametrize("kind", [ENDPOINTS, PROVIDERS], ids=lambda kind: kind.name)
def test_cel_and_python_refuse_the_same_and_every_rule_is_tried(kind: Kind[Any]) -> None:
    tried: set[str] = set()
    bad = BAD_ENDPOINTS if kind is ENDPOINTS else BAD_PROVIDERS
    for spec, _said in bad.values():
        try:
            by_python = refused_by_python(kind, spec)
        except ValueError:
            continue  # the schema refuses it
        assert refused_by_cel(kind, spec) == by_python
        tried |= by_python
    want = {f"{rule.place}: {rule.message}" for rule in kind.rules if rule.at == "spec"}
    assert want - tried == set()


def test_an_endpoint_whose_name_is_no_label_is_refused() -> None:
    spec = next(iter(GOOD_ENDPOINTS.values()))
    (problem,) = checked_object(manifest(ENDPOINTS, spec, "Not_A_Label"), ENDPOINTS)[1]
    assert "it is part of the URL" in problem.sentence
    assert len(refused_by_cel(ENDPOINTS, spec, "Not_A_Label")) == 1


@pytest.mark.parametrize("make", [inference_endpoint_crd, serverless_provider_crd])
def test_the_checked_in_file_is_what_the_structs_say(make: Any) -> None:
    assert (CRDS / f"{make()['metadata']['name']}.yaml").read_text(encoding="utf-8") == render(make())


def test_kubectl_get_says_whether_it_is_fine_and_if_not_why() -> None:
    shown = {}
    for make in (inference_endpoint_crd, serverless_provider_crd):
        crd = make()["spec"]
        version = crd["versions"][0]
        columns = version["additionalPrinterColumns"]
        shown[crd["names"]["shortNames"][0]] = [one["name"] for one in columns if not one.get("priority")]
        known = dict(nodes(version["schema"]["openAPIV3Schema"]))
        for column in columns:
            if column["type"] != "date":
                assert known[column["jsonPath"].removeprefix(".")]["type"] == column["type"], column
    assert shown == {
        "ie": ["State", "Reason", "URL", "Requests", "Hedged", "P95", "Spend", "Age"],
        "sp": ["State", "Reason", "Type", "Endpoint", "Price", "Age"],
    }

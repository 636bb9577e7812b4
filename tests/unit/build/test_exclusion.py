"""Nodes are excluded whatever affinity the user has asked for."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.build.exclusion import avoid_nodes

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NOT_A = {"key": "metadata.name", "operator": "NotIn", "values": ["a"]}
NOT_B = {"key": "metadata.name", "operator": "NotIn", "values": ["b"]}
H100 = {"key": "gpu", "operator": "In", "values": ["h100"]}
H200 = {"key": "gpu", "operator": "In", "values": ["h200"]}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


CASES: dict[str, tuple[dict[str, Any] | None, tuple[str, ...], dict[str, Any] | None]] = {
    "nothing excluded and no affinity: none": (None, (), None),
    "nothing excluded: the user's affinity as it is": (required({"matchExpressions": [H100]}), (), None),
    "no affinity: one term with every exclusion": (None, ("b", "a"), required({"matchFields": [NOT_A, NOT_B]})),
    "an empty affinity: one term": ({}, ("a",), required({"matchFields": [NOT_A]})),
    "several terms are alternatives: each is narrowed": (
        required({"matchExpressions": [H100]}, {"matchExpressions": [H200]}),
        ("a",),
        required(
            {"matchExpressions": [H100], "matchFields": [NOT_A]},
            {"matchExpressions": [H200], "matchFields": [NOT_A]},
        ),
    ),
    "a term with a field of the user: both hold": (
        required({"matchFields": [NOT_B]}),
        ("a",),
        required({"matchFields": [NOT_B, NOT_A]}),
    ),
    "preferences and pod affinity stay": (
        {"podAffinity": {"x": 1}, "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [2]}},
        ("a",),
        {
            "podAffinity": {"x": 1},
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [2],
                REQUIRED: {"nodeSelectorTerms": [{"matchFields": [NOT_A]}]},
            },
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_exclusion(case: str) -> None:
    affinity, nodes, expected = CASES[case]
    assert avoid_nodes(affinity, nodes) == (affinity if expected is None else expected)

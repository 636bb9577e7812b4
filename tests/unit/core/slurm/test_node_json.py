"""Nodes from JSON: both generations, and entries that are not as they should be."""

from typing import Any

import pytest

from hedgerow_operator.core.slurm.node_json import read_nodes
from hedgerow_operator.core.slurm.seen import SlurmNode

OLD = {
    "name": "n2",
    "state": "idle",
    "state_flags": ["DRAIN"],
    "reason": "bad day",
    "reason_set_by_user": "root",
    "address": "10.0.0.2",
    "gres": "gpu:8",
    "partitions": ["debug", "long"],
}
NEW = {**{name: value for name, value in OLD.items() if name != "state_flags"}, "state": ["IDLE", "DRAIN"]}
READ = SlurmNode(
    name="n2",
    state="IDLE",
    flags=frozenset({"DRAIN"}),
    reason="bad day",
    reason_user="root",
    address="10.0.0.2",
    gres="gpu:8",
    partitions=("debug", "long"),
)


@pytest.mark.parametrize("entry", [pytest.param(OLD, id="22.05"), pytest.param(NEW, id="later")])
def test_both_generations_are_read_alike(entry: dict[str, Any]) -> None:
    assert read_nodes({"nodes": [entry]}) == (READ,)


@pytest.mark.parametrize("field", sorted(set(OLD) - {"name"}))
@pytest.mark.parametrize("wrong", [{"a": [1]}, [None, {}], "\N{SNOWMAN}", -1.5, True, None])
def test_whatever_is_wrong_with_one_value_the_node_is_still_told(field: str, wrong: Any) -> None:
    found = read_nodes({"nodes": [OLD | {field: wrong}, OLD]})
    assert [node.name for node in found] == ["n2", "n2"]
    assert found[1] == READ


@pytest.mark.parametrize("entry", [None, 3, "x", [], {}, {"name": None}])
def test_an_entry_that_is_no_node_does_not_lose_the_others(entry: Any) -> None:
    assert read_nodes({"nodes": [entry, OLD]}) == (READ,)

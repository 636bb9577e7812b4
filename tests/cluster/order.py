"""The order of the cluster's tests: what waits long begins early, beside tests that it does not disturb.

While operators are killed in two namespaces of their own and the installed one is off: tests that need none. While two
nodes are away: tests that keep to the third. Then those that need every node. At the end, alone: what takes from the
cluster something that everything else needs.
"""

import pytest

BESIDE_KILLED_OPERATORS = (
    "test_rights",
    "test_refused_manifests",
    "test_kube_runtime",
    "test_torch_communication",
    "test_testbed",
    "test_testbed_leaves_nothing",
    "test_testbed_parts",
    "test_operator_killed",
)
BESIDE_LOST_NODES = (
    "test_faults",
    "test_troubles",
    "test_hindrances",
    "test_check",
    "test_images",
    "test_slow_rank",
    "test_unheard",
    "test_cut_off",
    "test_nodes",
)
WITH_EVERY_NODE = ("test_quickstart", "test_pytorch", "test_torchrun", "test_agents", "test_gateway")
ORDER = (*BESIDE_KILLED_OPERATORS, *BESIDE_LOST_NODES, *WITH_EVERY_NODE)


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests, sorted; those of one file keep their order."""
    return sorted(items, key=lambda item: (item.get_closest_marker("alone") is not None, place_of(item.path.stem)))


def place_of(name: str) -> int:
    """The place of a test file among the others; one that is not named comes after those that are."""
    return ORDER.index(name) if name in ORDER else len(ORDER)


def chosen(request: pytest.FixtureRequest, name: str) -> bool:
    """Whether tests of this file are part of the session."""
    return any(item.path.stem == name for item in request.session.items)

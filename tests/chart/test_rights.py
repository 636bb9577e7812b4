"""The operator gets the rights of the table, where it needs them, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.rbac import RIGHTS, rules
from tests.chart.rendering import only, render


def pairs(found: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb)
        for rule in found
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_no_right_is_for_everything() -> None:
    for right in RIGHTS:
        assert "*" not in {right.group, right.resource, *right.verbs}
        assert right.why


# Whoever may do these gets at Secrets without a right on Secrets.
WAYS_AROUND = {
    "pods/exec",
    "pods/attach",
    "serviceaccounts/token",
    "roles",
    "rolebindings",
    "clusterroles",
    "nodes/proxy",
}


@pytest.mark.parametrize("settings", [(), ("watchNamespaces={research,vision}",)], ids=["everywhere", "two namespaces"])
def test_outside_its_own_namespace_a_secret_can_only_be_got_by_its_name(settings: tuple[str, ...]) -> None:
    roles = [entry for entry in render(*settings) if entry["kind"] in ("Role", "ClusterRole")]
    outside = [entry for entry in roles if entry["metadata"].get("namespace") != "hedgerow-system"]
    assert outside
    rights = {right for role in outside for right in pairs(role["rules"])}
    assert {verb for _, resource, verb in rights if resource.partition("/")[0] in ("secrets", "*")} <= {"get"}
    assert not {resource for _, resource, _ in rights} & WAYS_AROUND
    assert not {verb for _, _, verb in rights} & {"*", "impersonate", "escalate", "bind"}


@pytest.mark.parametrize("settings", [(), ("watchNamespaces={research}",)], ids=["everywhere", "one namespace"])
def test_secrets_are_read_only_where_slurm_clusters_name_them(settings: tuple[str, ...]) -> None:
    def in_watched_namespaces(*more: str) -> set[tuple[str, str, str]]:
        roles = [entry for entry in render(*settings, *more) if entry["kind"] in ("Role", "ClusterRole")]
        return {right for role in roles for right in pairs(role["rules"])}

    assert not {resource for _, resource, _ in in_watched_namespaces()} & {"secrets", "slurmclusters"}
    more = in_watched_namespaces("slurm.enabled=true") - in_watched_namespaces()
    assert more == pairs(rules(RIGHTS, "slurm"))
    assert {verb for _, resource, verb in more if resource == "secrets"} == {"get"}


def test_the_operator_looks_at_slurm_clusters_where_it_is_told_to() -> None:
    def given(*settings: str) -> list[str]:
        (operator,) = only(render(*settings), "Deployment")["spec"]["template"]["spec"]["containers"]
        return [argument for argument in operator["args"] if argument == "--slurm"]

    assert (given(), given("slurm.enabled=true")) == ([], ["--slurm"])


def test_for_the_whole_cluster_the_rights_are_in_one_cluster_role() -> None:
    found = only(render(), "ClusterRole")["rules"]
    assert pairs(found) == pairs([*rules(RIGHTS, "cluster"), *rules(RIGHTS, "namespace")])


@pytest.mark.parametrize("settings", [(), ("watchNamespaces={research}",)], ids=["everywhere", "one namespace"])
def test_nodes_can_be_changed_only_where_they_are_tainted(settings: tuple[str, ...]) -> None:
    def on_nodes(*more: str) -> set[str]:
        roles = [entry for entry in render(*settings, *more) if entry["kind"] in ("Role", "ClusterRole")]
        return {verb for role in roles for _, resource, verb in pairs(role["rules"]) if resource == "nodes"}

    reading = {"get", "list", "watch"}
    assert on_nodes() == on_nodes("agent.enabled=true") == reading
    assert on_nodes("agent.enabled=true", "nodeAction=Taint") == {*reading, "patch"}


def test_for_some_namespaces_only_what_lies_outside_of_any_is_in_a_cluster_role() -> None:
    objects = render("watchNamespaces={research,vision}")
    assert pairs(only(objects, "ClusterRole")["rules"]) == pairs(rules(RIGHTS, "cluster"))
    for namespace in ("research", "vision"):
        assert pairs(only(objects, "Role", namespace=namespace)["rules"]) == pairs(rules(RIGHTS, "namespace"))


def test_events_about_nodes_are_written_to_the_namespace_default_where_agents_run() -> None:
    def there(*settings: str) -> list[set[tuple[str, str, str]]]:
        roles = [entry for entry in render(*settings) if entry["kind"] == "Role"]
        return [pairs(role["rules"]) for role in roles if role["metadata"]["namespace"] == "default"]

    assert there("watchNamespaces={research}") == []
    assert there("agent.enabled=true") == []
    assert there("watchNamespaces={research}", "agent.enabled=true") == [pairs(rules(RIGHTS, "default"))]
    both = there("watchNamespaces={research,default}", "agent.enabled=true")
    assert both == [pairs(rules(RIGHTS, "namespace"))]
    assert both[0] >= pairs(rules(RIGHTS, "default"))


def test_the_lease_is_in_the_operators_own_namespace() -> None:
    role = only(render(), "Role", namespace="hedgerow-system")
    assert pairs(role["rules"]) == pairs(rules(RIGHTS, "home"))


def test_every_role_is_bound_to_the_operators_account_only() -> None:
    objects = render("watchNamespaces={research}", "agent.enabled=true")
    bindings = [entry for entry in objects if entry["kind"].endswith("Binding")]
    roles = [entry for entry in objects if entry["kind"] in ("Role", "ClusterRole")]
    assert len(bindings) == len(roles)
    for binding in bindings:
        (subject,) = binding["subjects"]
        assert (subject["kind"], subject["name"], subject["namespace"]) == (
            "ServiceAccount",
            "hedgerow",
            "hedgerow-system",
        )


def test_the_rights_can_be_left_to_somebody_else() -> None:
    kinds = {entry["kind"] for entry in render("rbac.create=false")}
    assert not kinds & {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}

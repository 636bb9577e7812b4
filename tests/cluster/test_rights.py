"""The installed operator may do what its table of rights says, and nothing else."""

import pytest

from hedgerow_operator.rbac import RIGHTS, Right, Scope
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError

pytestmark = pytest.mark.usefixtures("lives")  # goes on meanwhile

ACCOUNT = f"system:serviceaccount:{hedgerow.NAMESPACE}:{hedgerow.RELEASE}"
# What every account of a cluster may do by the API server's own roles: ask about itself, read what the API offers.
OWN_QUESTIONS = ("selfsubject", "[/", "clustertrustbundles")
# What a stolen token must not open.
FORBIDDEN = (
    ("get", "secrets"),
    ("list", "configmaps"),
    ("create", "pods"),
    ("create", "pods/exec"),
    ("create", "serviceaccounts/token"),
    ("patch", "nodes"),
    ("update", "nodes"),
    ("create", "trainingjobs.hedgerow.dev"),
    ("update", "trainingjobs.hedgerow.dev"),
    ("patch", "jobs.batch"),
    ("delete", "namespaces"),
    ("create", "clusterrolebindings.rbac.authorization.k8s.io"),
    ("impersonate", "users"),
)


def can(cluster: Cluster, verb: str, resource: str, namespace: str) -> bool:
    """Whether the operator may do this."""
    try:
        cluster.kubectl("auth", "can-i", verb, resource, "-n", namespace, f"--as={ACCOUNT}", "-q")
    except ClusterError:
        return False
    return True


def granted(cluster: Cluster, namespace: str) -> set[tuple[str, str]]:
    """(resource, verb) of everything that the operator may do in a namespace beyond what every account may."""
    listed = cluster.kubectl("auth", "can-i", "--list", "--no-headers", "-n", namespace, f"--as={ACCOUNT}")
    found = set()
    for line in listed.splitlines():
        resource = line.split()[0]
        verbs = line[line.rindex("[") + 1 : line.rindex("]")].split()
        if not any(word in resource for word in OWN_QUESTIONS) and not line.lstrip().startswith("["):
            found |= {(resource, verb) for verb in verbs}
    return found


def expected(*scopes: Scope) -> set[tuple[str, str]]:
    """The same from the table."""
    rights = [right for right in RIGHTS if right.scope in scopes]
    return {(full_name(right), verb) for right in rights for verb in right.verbs}


def full_name(right: Right) -> str:
    """The resource as kubectl writes it, such as trainingjobs.hedgerow.dev/status."""
    resource, slash, part = right.resource.partition("/")
    return f"{resource}.{right.group}".rstrip(".") + slash + part


def test_in_a_namespace_it_may_do_what_the_table_says_and_no_more(
    cluster: Cluster, namespace: str, chart: InstalledOperator
) -> None:
    del chart
    assert granted(cluster, namespace) == expected("namespace", "cluster")


def test_in_its_own_namespace_it_may_keep_its_lease_too(cluster: Cluster, chart: InstalledOperator) -> None:
    del chart
    assert granted(cluster, hedgerow.NAMESPACE) == expected("namespace", "cluster", "home")


@pytest.fixture(scope="module")
def answers(cluster: Cluster, chart: InstalledOperator) -> dict[tuple[str, str], bool]:
    """Whether the operator may, for each of FORBIDDEN and one thing that it may."""
    del chart
    questions = [*FORBIDDEN, ("create", "jobs.batch")]
    return {question: can(cluster, *question, hedgerow.NAMESPACE) for question in questions}


def test_it_reads_no_secret_makes_no_pod_and_changes_no_node(answers: dict[tuple[str, str], bool]) -> None:
    assert answers.pop(("create", "jobs.batch"))
    assert [question for question, may in answers.items() if may] == []

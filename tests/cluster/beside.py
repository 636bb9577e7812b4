"""Long stories that go on in the background while other tests run, each begun only where tests of it are chosen."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import pytest

from tests.cluster.order import chosen
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.lives import CHANGES_OF_A_LIFE, Outcome, live_and_die_everywhere
from tests.cluster.scenario.lost_nodes import Loss, lose_nodes
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

Result = TypeVar("Result")
Lives = dict[int, Outcome]
Losses = dict[str, Loss]


@contextmanager
def under_way(story: Callable[[], Result]) -> Iterator["Future[Result]"]:
    """The story in a thread of its own; at the end it is waited for."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(story)


def nothing() -> "Future[dict[object, object]]":
    """What is over before it began."""
    done: Future[dict[object, object]] = Future()
    done.set_result({})
    return done


@pytest.fixture(scope="session")
def lives(
    request: pytest.FixtureRequest, cluster: Cluster, chart: InstalledOperator, watch: AttemptWatch
) -> Iterator["Future[Lives] | Future[dict[object, object]]"]:
    """Jobs whose operators are killed again and again; until they are over the installed operator is off."""
    del watch
    if not chosen(request, "test_operator_killed"):
        yield nothing()
        return
    chart.scale(0)
    with ExitStack() as stack:
        places = {changes: stack.enter_context(restricted_namespace(cluster)) for changes in CHANGES_OF_A_LIFE}
        yield stack.enter_context(under_way(lambda: live_and_die_everywhere(cluster, places)))


@pytest.fixture(scope="session")
def lost_nodes(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    operator: InstalledOperator,
    watch: AttemptWatch,
    unheard: Job,
    kept_apart: object,
) -> Iterator["Future[Losses] | Future[dict[object, object]]"]:
    """Two nodes are lost under jobs; until that is over, other jobs keep to the third."""
    del operator, watch, unheard, kept_apart  # must be there
    if not chosen(request, "test_nodes"):
        yield nothing()
        return
    with restricted_namespace(cluster) as place, under_way(lambda: lose_nodes(cluster, place)) as losses:
        yield losses

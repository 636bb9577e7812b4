"""Tokens of node agents on Slurm: whose they are, and about which nodes they are believed."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec import Struct

from hedgerow_operator.adapters.slurm.agent_tokens import FRESH_SECONDS, NEWS_SECONDS, AgentSite, AgentTokens, digest
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import AgentClaim, Denied


class Claim(Struct, frozen=True):
    """A report that says that it is of this node's agent."""

    node: str


def site(name: str = "ml/hpc", token: str = "secret", nodes: str | None = "n1 n2") -> AgentSite:
    return AgentSite(name=name, digest=digest(token), nodes=None if nodes is None else frozenset(nodes.split()))


class World:
    """Sites as they are, a clock that the test moves, and who else nodes belong to."""

    def __init__(self, *sites: AgentSite) -> None:
        self.sites: tuple[AgentSite, ...] | Unreachable = sites
        self.now = 1000.0
        self.reads = 0
        self.owners: dict[str, str] = {}
        self.tokens = AgentTokens(self.read, self.taken, stopwatch=lambda: self.now)

    async def read(self) -> tuple[AgentSite, ...]:
        self.reads += 1
        if isinstance(self.sites, Unreachable):
            raise self.sites
        return self.sites

    async def taken(self, node: str, site: str) -> str:
        return self.owners.get(node, "")

    async def ask(self, token: str | None, node: str) -> None:
        """As the report server does."""
        if not self.tokens.recall(token or "", Claim(node)):
            await self.tokens.check(token, Claim(node))


async def test_an_agent_is_believed_about_a_node_that_the_cluster_of_its_token_lists() -> None:
    world = World(site(), site("ml/old", "other", "m1"))
    await world.ask("secret", "n2")
    assert (world.tokens.site_of("n2"), world.tokens.site_of("n1")) == ("ml/hpc", "")
    assert world.tokens.recall("secret", Claim("n2"))
    assert world.reads == 1


@pytest.mark.parametrize("token", [None, "", "another", "secret ", "\udcff"])
async def test_whoever_has_another_token_is_not(token: str | None) -> None:
    world = World(site())
    await world.ask("secret", "n1")
    with pytest.raises(Denied, match="is not the one of this cluster's node agents"):
        await world.ask(token, "n1")


@pytest.mark.parametrize("node", ["m1", "n3", "", "N1", "n[1-2]"])
async def test_nobody_is_believed_about_a_node_of_another_cluster_or_of_none(node: str) -> None:
    world = World(site(), site("ml/old", "other", "m1"))
    with pytest.raises(Denied, match=r"ml/hpc has no node .*; give the agent its name in Slurm") as denied:
        await world.ask("secret", node)
    assert denied.value.identified


async def test_a_node_that_is_one_of_kubernetes_or_of_a_cluster_that_was_first_is_left_to_it() -> None:
    world = World(site())
    world.owners["n1"] = "a node of Kubernetes"
    with pytest.raises(Denied, match="n1 is a node of Kubernetes, and the token is for nodes of ml/hpc"):
        await world.ask("secret", "n1")
    assert world.tokens.site_of("n1") == ""


async def test_where_nodes_cannot_be_listed_nothing_is_concluded() -> None:
    world = World(site(nodes=None))
    with pytest.raises(Unreachable, match="the nodes of ml/hpc cannot be listed"):
        await world.ask("secret", "n1")
    world = World()
    world.sites = Unreachable("slurmctld is away")
    for _ in range(2):
        with pytest.raises(Unreachable, match="slurmctld is away"):
            await world.ask("secret", "n1")
    assert world.reads == 1


async def test_who_was_believed_goes_on_being_believed_while_nothing_can_be_read() -> None:
    world = World(site())
    await world.ask("secret", "n1")
    world.sites = Unreachable("slurmctld is away")
    world.now += 10 * FRESH_SECONDS
    assert world.tokens.recall("secret", Claim("n1"))
    await world.tokens.close()


def new_token(world: World) -> None:
    world.sites = (site(token="newer"),)


def without_the_node(world: World) -> None:
    world.sites = (site(nodes="n2"),)


@pytest.mark.parametrize("change", [new_token, without_the_node])
async def test_a_token_that_was_changed_and_a_node_that_was_taken_away_count_no_more(
    change: Callable[[World], None],
) -> None:
    world = World(site())
    await world.ask("secret", "n1")
    change(world)
    world.now += FRESH_SECONDS
    world.tokens.recall("secret", Claim("n1"))
    for _ in range(3):
        await asyncio.sleep(0)
    with pytest.raises(Denied):
        await world.ask("secret", "n1")


async def test_a_new_token_and_a_new_node_are_known_within_seconds_and_strangers_make_nobody_ask_more_often() -> None:
    world = World(site())
    await world.ask("secret", "n1")
    for _ in range(5):
        with pytest.raises(Denied):
            await world.ask("newer", "n9")
    assert world.reads == 1
    world.sites = (site(token="newer", nodes="n9"),)
    world.now += NEWS_SECONDS
    await world.ask("newer", "n9")


class Others:
    """Knows one agent that is not on Slurm."""

    async def check(self, token: str | None, claim: AgentClaim) -> None:
        if token != "pod":
            raise Denied("no pod's")

    def recall(self, token: str, claim: AgentClaim) -> bool:
        return token == "pod"


async def test_agents_that_are_not_on_slurm_are_believed_as_ever_also_while_slurm_is_away() -> None:
    world = World(site())
    world.tokens = AgentTokens(world.read, world.taken, Others(), lambda: world.now)
    await world.ask("pod", "node-a")
    world.sites = Unreachable("slurmctld is away")
    world.now += FRESH_SECONDS
    await world.ask("pod", "node-a")
    with pytest.raises(Denied, match="no pod's"):
        await world.ask("another", "n1")
    await world.tokens.close()

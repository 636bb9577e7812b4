"""Node agents on clusters of Slurm: whoever shows a cluster's token is believed about the nodes that it lists."""

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic

from msgspec import Struct

from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.auth import AgentClaim, Authenticator, Denied

# Sites are read again after this long, while those that are known go on being believed: an outage silences nobody.
FRESH_SECONDS = 30.0
# A token or a node that is not known may be new; strangers make nobody ask more often.
NEWS_SECONDS = 5.0


class AgentSite(Struct, frozen=True, kw_only=True):
    """One cluster. name: as people know it. digest: of its agents' token. nodes: that it lists; None: not known yet."""

    name: str
    digest: str
    nodes: frozenset[str] | None


# Every cluster whose agents are heard; raises Unreachable.
ReadSites = Callable[[], Awaitable[Iterable[AgentSite]]]
# node, site -> whose it is instead, in words; "": nobody's. Raises Unreachable.
Taken = Callable[[str, str], Awaitable[str]]


async def nobodys(node: str, site: str) -> str:
    """Where there is one cluster only."""
    return ""


class AgentTokens:
    """Implements server.auth.Authenticator. others: who knows agents that are not on Slurm."""

    def __init__(
        self,
        read: ReadSites,
        taken: Taken = nobodys,
        others: Authenticator[AgentClaim] | None = None,
        stopwatch: Callable[[], float] = monotonic,
    ) -> None:
        self._read = read
        self._taken = taken
        self._others = others
        self._stopwatch = stopwatch
        self._sites: tuple[AgentSite, ...] = ()
        self._proven: dict[str, str] = {}
        self._tried_at = float("-inf")
        self._trouble = ""
        self._reading: asyncio.Task[None] | None = None

    def site_of(self, node: str) -> str:
        """The site whose agent has proven to be on this node; "": none."""
        return self._proven.get(node, "")

    async def check(self, token: str | None, claim: AgentClaim) -> None:
        """See Authenticator."""
        site = self._lister(token, claim.node)
        if site is None and self._age() >= NEWS_SECONDS:
            # What went wrong is told below, where it matters.
            with contextlib.suppress(Unreachable):
                # Another report may wait for the same: whoever leaves does not end it.
                await asyncio.shield(self._begin())
            site = self._lister(token, claim.node)
        if site is None:
            self._judge(self._givers(token), claim.node)
            await self._elsewhere(token, claim)
            return
        other = await self._taken(claim.node, site.name)
        if other:
            raise Denied(f"{claim.node[:253]} is {other}, and the token is for nodes of {site.name}", identified=True)
        self._proven[claim.node] = site.name

    def recall(self, token: str, claim: AgentClaim) -> bool:
        """Likewise; what is known is believed while it is read again."""
        if self._age() >= FRESH_SECONDS:
            self._begin()
        if self._givers(token):
            site = self._lister(token, claim.node)
            return site is not None and self._proven.get(claim.node) == site.name
        return self._others is not None and self._others.recall(token, claim)

    def _judge(self, givers: list[AgentSite], node: str) -> None:
        """Whose token it is, and who does not list the node. Raises Denied, Unreachable unless there is nobody."""
        if not givers:
            return
        names = ", ".join(site.name for site in givers)
        if self._trouble or any(site.nodes is None for site in givers):
            raise Unreachable(self._trouble or f"the nodes of {names} cannot be listed")
        raise Denied(f"{names} has no node {node[:253]}; give the agent its name in Slurm (--node)", identified=True)

    async def _elsewhere(self, token: str | None, claim: AgentClaim) -> None:
        if self._others is not None:
            await self._others.check(token, claim)
        elif self._trouble:
            raise Unreachable(self._trouble)
        else:
            raise Denied("the token is not the one of this cluster's node agents")

    def _lister(self, token: str | None, node: str) -> AgentSite | None:
        """The site whose token it is, and whose node."""
        return next((site for site in self._givers(token) if node in (site.nodes or ())), None)

    def _givers(self, token: str | None) -> list[AgentSite]:
        if not token or not self._sites:
            return []
        given = digest(token)
        # Every one is compared, whichever fits.
        fits = [hmac.compare_digest(given, site.digest) for site in self._sites]
        return [site for site, fit in zip(self._sites, fits, strict=True) if fit]

    def _age(self) -> float:
        return self._stopwatch() - self._tried_at

    def _begin(self) -> asyncio.Task[None]:
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._read_all())
            self._reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._reading

    async def _read_all(self) -> None:
        try:
            self._sites, self._trouble = tuple(await self._read()), ""
        except Unreachable as error:
            self._trouble = str(error)
            raise
        finally:
            self._tried_at = self._stopwatch()
        listed = {(site.name, node) for site in self._sites for node in site.nodes or ()}
        self._proven = {node: name for node, name in self._proven.items() if (name, node) in listed}

    async def close(self) -> None:
        """Read nothing any more."""
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._reading


def digest(token: str) -> str:
    """What is kept of a token."""
    # Bytes of a header that are no text arrive as lone surrogates.
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()

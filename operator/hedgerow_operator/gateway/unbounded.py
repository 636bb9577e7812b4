"""Parts that hold nothing back: an endpoint without a budget, and tests of what is not about money."""

import asyncio

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.gateway.ports import Ended, Launch, Loser, Parts, Validator


class Free:
    """A reservation of nothing."""

    def taken(self, job_id: str) -> None:
        """Nobody keeps it."""

    def settle(self, ended: Ended) -> None:
        """There is nothing to give back."""


_FREE = Free()


class NoBudget:
    """Money that never ends."""

    async def reserve(self, launch: Launch) -> Free:
        """Always."""
        return _FREE

    def may_hedge(self) -> bool:
        """Always."""
        return True


class CancelAtOnce:
    """Each loser once, without limits."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def give(self, loser: Loser) -> None:
        """See Losers."""
        task: asyncio.Task[object] = asyncio.ensure_future(loser.attempt.cancel())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Unprotected:
    """Every provider is always open."""

    def is_open(self, provider: str) -> bool:
        """Always."""
        return True

    def launched(self, provider: str) -> None:
        """Nothing follows."""

    def ended(self, provider: str, well: bool | None) -> None:
        """Nothing follows."""

    def allows_more(self, provider: str) -> bool:
        """Always."""
        return True


def unbounded(providers: tuple[Provider, ...], validators: tuple[Validator, ...] = ()) -> Parts:
    """The parts of an endpoint over these providers."""
    return Parts(
        providers=providers,
        money=NoBudget(),
        losers=CancelAtOnce(),
        protection=Unprotected(),
        validators=validators,
    )

"""Losers of one endpoint on their way into the cancel queue, and attempts that an earlier process has left."""

from collections.abc import Iterable, Sequence

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.gateway.account import Account, Held
from hedgerow_operator.gateway.cancel_queue import CancelQueue, Doomed
from hedgerow_operator.gateway.journal_entries import Kept
from hedgerow_operator.gateway.ports import Loser

_LEFT = "the gateway that had made it ended"


class EndpointLosers:
    """See Losers."""

    def __init__(self, endpoint: str, queue: CancelQueue) -> None:
        self._endpoint, self._queue = endpoint, queue

    def give(self, loser: Loser) -> None:
        """See Losers."""
        held = loser.reservation
        assert isinstance(held, Held)
        if held.give_up(loser.why):
            self._queue.put(
                Doomed(
                    lane=f"{self._endpoint} {loser.provider.name}",
                    provider=loser.provider.name,
                    job_id=loser.attempt.job_id,
                    end=loser.attempt.cancel,
                    done=held.given,
                )
            )


def reap(account: Account, queue: CancelQueue, left: Iterable[Kept], providers: Sequence[Provider]) -> None:
    """End what an earlier process has left. What was never named cannot be ended, and gets a receipt that says so."""
    known = {provider.name: provider for provider in providers}
    for kept in left:
        held = account.take_back(kept)
        held.give_up(kept.why or _LEFT)
        provider = known.get(kept.provider)
        if not kept.job_id:
            held.given(
                _lost(kept, "the gateway ended before its provider had named it; if it runs, nobody can end it"), 0
            )
        elif provider is None:
            held.given(_lost(kept, f"its provider {kept.provider} is no longer one of the endpoint's"), 0)
        else:
            queue.put(_orphan(account.endpoint, provider, held))


def _orphan(endpoint: str, provider: Provider, held: Held) -> Doomed:
    job_id = held.kept.job_id
    return Doomed(
        lane=f"{endpoint} {provider.name}",
        provider=provider.name,
        job_id=job_id,
        end=lambda: provider.recover(job_id),
        done=held.given,
    )


def _lost(kept: Kept, note: str) -> Receipt:
    return Receipt(provider=kept.provider, job_id=kept.job_id, note=note)

"""Receipts: what an attempt that was given up cost, as far as can be told, and what was seen of its end."""

import asyncio

from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.core.hedging.receipts import Receipt


class Ending:
    """The cancel of one attempt: its clock begins when this is made."""

    def __init__(self, setup: Setup, job_id: str, *, free_in_queue: bool, was_running: bool | None) -> None:
        self.setup, self.job_id, self.was_running = setup, job_id, was_running
        self._free_in_queue = free_in_queue
        self._began = asyncio.get_running_loop().time()

    @property
    def passed(self) -> float:
        """Seconds since the cancel was sent, as they would be without scale."""
        return (asyncio.get_running_loop().time() - self._began) / self.setup.scale

    def receipt(self, ran_seconds: float | None = None) -> Receipt:
        """With no evidence yet, so leaked. ran_seconds: of a worker, None: not known."""
        return Receipt(
            provider=self.setup.name,
            job_id=self.job_id,
            was_running=self.was_running,
            execution_seconds=ran_seconds,
            estimated_cost=self._cost(ran_seconds),
        )

    def _cost(self, ran_seconds: float | None) -> float | None:
        if self.was_running is False and self._free_in_queue:
            return 0.0
        if ran_seconds is None:
            return None
        return self.setup.usd_per_second * (ran_seconds + self.setup.idle_billed_seconds)

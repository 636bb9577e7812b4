"""Attempts and providers that end as a test says, and books with small patience."""

from collections.abc import Sequence
from pathlib import Path

from hedgerow_operator.adapters.providers.contract import Call, Health, Update
from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.gateway.account import Account, Held
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.cancel_queue import Patience
from hedgerow_operator.gateway.ports import Launch, Loser

QUICK = Patience(first=0.01, longest=0.02, enough=0.2)
ENDPOINT = "default/chat"


def terminal(job_id: str, **more: object) -> Receipt:
    return Receipt(provider="a", job_id=job_id, evidence=Evidence.TERMINAL, leaked=False, **more)  # type: ignore[arg-type]


class ScriptedAttempt:
    """receipts: what each cancel comes to, the last one again and again; an exception is raised."""

    def __init__(self, job_id: str, receipts: Sequence[Receipt | Exception]) -> None:
        self.job_id, self._receipts, self.cancels = job_id, list(receipts), 0

    def updates(self) -> object:
        raise AssertionError("nobody reads these")

    async def cancel(self) -> Receipt:
        self.cancels += 1
        found = self._receipts[min(self.cancels, len(self._receipts)) - 1]
        if isinstance(found, Exception):
            raise found
        return found


class ScriptedProvider:
    """A dollar a second; every job that it is asked to recover is seen to have ended."""

    shows_start = free_in_queue = can_stream = True
    idle_billed_seconds = 0.0

    def __init__(self, name: str = "a", usd_per_second: float = 1.0) -> None:
        self.name, self.usd_per_second = name, usd_per_second
        self.recovered: list[str] = []

    async def submit(self, call: Call) -> ScriptedAttempt:
        return ScriptedAttempt("job", [terminal("job")])

    async def recover(self, job_id: str) -> Receipt:
        self.recovered.append(job_id)
        return terminal(job_id)

    async def health(self) -> Health:
        return Health(ok=True)

    async def set_warm(self, workers: int) -> bool:
        return False

    async def close(self) -> None:
        """Nothing is open."""

    def updates(self) -> Update:
        raise AssertionError


class Now:
    """A clock that a test moves."""

    def __init__(self, at: float = 1_800_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def books(path: Path | None = None, *, share: bool = False, now: Now | None = None) -> Books:
    made = Books(path, share=share, clock=now, patience=QUICK)
    made.open()
    return made


def dollars(hourly: str, mode: str = "StopHedging") -> Budget:
    return Budget(hourly_usd=hourly, on_exhausted=mode)  # type: ignore[arg-type]


async def held_by(account: Account, provider: ScriptedProvider, *, seconds: float = 80.0, first: bool = True) -> Held:
    """80 seconds and 20 for the cancel: a hundred dollars."""
    held = await account.reserve(launch(provider, seconds=seconds, first=first))
    assert held is not None
    return held


def launch(provider: ScriptedProvider, *, seconds: float = 80.0, first: bool = True) -> Launch:
    return Launch(request_id="r1", provider=provider, first=first, worst_seconds=seconds)  # type: ignore[arg-type]


def loser(held: Held, provider: ScriptedProvider, attempt: ScriptedAttempt, why: str = "another won") -> Loser:
    return Loser(
        request_id="r1",
        provider=provider,  # type: ignore[arg-type]
        attempt=attempt,  # type: ignore[arg-type]
        reservation=held,
        ran_seconds=1.0,
        why=why,
    )

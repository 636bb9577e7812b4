"""What people and programs see of receipts and money."""

import json
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from click.testing import CliRunner
from prometheus_client import CollectorRegistry, generate_latest

from hedgerow_operator.cli.main import commands
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.money_metrics import MoneyCollector
from hedgerow_operator.gateway.ports import Ended, Ending
from hedgerow_operator.gateway.receipts_page import receipts_page
from tests.gateway.money.doubles import (
    ENDPOINT,
    ScriptedAttempt,
    ScriptedProvider,
    books,
    dollars,
    held_by,
    loser,
    terminal,
)

LEAKED = Receipt(provider="a", job_id="job-2", evidence=Evidence.CHANNEL_CLOSED, note="the connection is closed")


async def filled(path: Path | None) -> Books:
    """One answer of two dollars, one loser that ended, and one that may run on."""
    provider, kept = ScriptedProvider(), books(path)
    account, losers, _ = kept.parts(ENDPOINT, [provider], dollars("1000"))
    won = await held_by(account, provider)
    won.settle(Ended(ending=Ending.WON, seconds=2.0, cost=2.0))
    for receipt in (terminal("job-1", reconciled_cost=0.5), LEAKED):
        held = await held_by(account, provider)
        losers.give(loser(held, provider, ScriptedAttempt(receipt.job_id, [receipt]), "another provider has answered"))
        assert await kept.until_quiet(ENDPOINT, 5)
    await held_by(account, provider)
    return kept


def run(*words: str) -> str:
    done = CliRunner().invoke(commands, ["receipts", *words])
    assert done.exit_code == 0, done.output
    return done.output


async def test_receipts_of_a_gateway_that_runs_are_read_beside_it(tmp_path: Path) -> None:
    kept = await filled(tmp_path / "gateway.sqlite")
    kept.journal.flush()
    header, newest, oldest = run("--state-dir", str(tmp_path)).splitlines()
    assert header.split() == ["AGE", "ENDPOINT", "PROVIDER", "JOB", "EVIDENCE", "LEAKED", "USD", "WHY", "NOTE"]
    assert newest.split()[1:7] == [ENDPOINT, "a", "job-2", "request_channel_closed", "yes", "100.00000~"]
    assert oldest.split()[1:7] == [ENDPOINT, "a", "job-1", "confirmed_terminal", "no", "0.50000"]
    assert len(run("--state-dir", str(tmp_path), "--leaked").splitlines()) == 2
    assert len(run("--state-dir", str(tmp_path), "--endpoint", "other/one").splitlines()) == 1
    await kept.close()


async def test_receipts_for_programs(tmp_path: Path) -> None:
    await (await filled(tmp_path / "gateway.sqlite")).close()
    newest, oldest = map(json.loads, run("--state-dir", str(tmp_path), "-o", "json").splitlines())
    assert (newest["jobId"], newest["leaked"], newest["measured"], newest["chargedUSD"]) == ("job-2", True, False, 100)
    assert (oldest["jobId"], oldest["leaked"], oldest["measured"], oldest["reconciledUSD"]) == (
        "job-1",
        False,
        True,
        0.5,
    )
    assert oldest["why"] == "another provider has answered"


async def page(kept: Books, query: str) -> list[dict[str, object]]:
    """What it shows, from a server of its own."""
    app = web.Application()
    app.router.add_get("/receipts", receipts_page(kept))
    async with TestClient(TestServer(app)) as client, client.get(f"/receipts{query}") as answer:
        assert answer.status == 200
        found: list[dict[str, object]] = (await answer.json())["receipts"]
        return found


async def test_the_page_takes_an_endpoint_and_a_limit() -> None:
    kept = await filled(None)
    assert [one["jobId"] for one in await page(kept, "?limit=1")] == ["job-2"]
    assert await page(kept, "?endpoint=other/one") == []
    assert len(await page(kept, f"?endpoint={ENDPOINT}")) == 2
    await kept.close()


async def test_metrics_keep_measured_and_estimated_and_served_and_other_apart() -> None:
    kept = await filled(None)
    registry = CollectorRegistry()
    registry.register(MoneyCollector(kept))
    text = generate_latest(registry).decode()
    place = 'endpoint="chat",namespace="default"'
    for line in (
        f'hedgerow_cost_usd_total{{basis="measured",{place},provider="a",role="served"}} 2.0',
        f'hedgerow_cost_usd_total{{basis="estimated",{place},provider="a",role="served"}} 0.0',
        f'hedgerow_cost_usd_total{{basis="measured",{place},provider="a",role="other"}} 0.5',
        f'hedgerow_cost_usd_total{{basis="estimated",{place},provider="a",role="other"}} 100.0',
        'hedgerow_receipts_total{endpoint="chat",evidence="confirmed_terminal",namespace="default",provider="a"} 1.0',
        f'hedgerow_leaked_total{{{place},provider="a"}} 1.0',
        f"hedgerow_held_usd{{{place}}} 100.0",
        f'hedgerow_spent_usd{{{place},window="day"}} 102.5',
        f'hedgerow_circuit{{{place},provider="a",state="Closed"}} 1.0',
        "hedgerow_losers_ending 0.0",
        "hedgerow_journal_errors_total 0.0",
    ):
        assert line in text
    await kept.close()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--state-dir", "/nowhere"], "/nowhere holds no journal of a gateway"),
        (["gopher://x"], "gopher://x is no address of a gateway; write it as http://HOST:PORT"),
        (["http://127.0.0.1:1"], "http://127.0.0.1:1 cannot be asked for receipts"),
    ],
)
def test_bad_input_gets_a_sentence(words: list[str], told: str) -> None:
    done = CliRunner().invoke(commands, ["receipts", *words])
    assert done.exit_code != 0
    assert told in done.output


def test_a_journal_that_cannot_be_read_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "gateway.sqlite").write_bytes(b"no database" * 99)
    done = CliRunner().invoke(commands, ["receipts", "--state-dir", str(tmp_path)])
    assert done.exit_code != 0
    assert "cannot be read: file is not a database" in done.output

"""GET /receipts of a gateway's own port: the receipts of losers, the newest first, as JSON."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from hedgerow_operator.core.hedging.dollars import usd
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.journal import MOST_RECEIPTS
from hedgerow_operator.gateway.journal_entries import Given

_USUAL = 100


def receipts_page(books: Books) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Takes ``endpoint`` (NAMESPACE/NAME) and ``limit``."""

    async def page(request: web.Request) -> web.Response:
        try:
            most = min(MOST_RECEIPTS, max(1, int(request.query.get("limit", _USUAL))))
        except ValueError:
            return web.json_response({"error": "limit has to be a number, such as 100"}, status=400)
        found = books.receipts(most, request.query.get("endpoint"))
        body = msgspec.json.encode({"receipts": [as_object(given) for given in found]})
        return web.Response(body=body, content_type="application/json")

    return page


def as_object(given: Given) -> dict[str, Any]:
    """For programs. Costs in US dollars. charged: what counts against the budget; measured: as the provider says."""
    receipt = given.receipt
    return {
        "endpoint": given.endpoint,
        "provider": receipt.provider,
        "jobId": receipt.job_id,
        "requestId": given.request_id,
        "why": given.why,
        "launchedAt": given.launched_at,
        "at": given.at,
        "tries": given.tries,
        "evidence": str(receipt.evidence),
        "leaked": receipt.leaked,
        "scope": str(receipt.scope),
        "wasRunning": receipt.was_running,
        "acknowledgedAfterSeconds": receipt.acknowledged_after,
        "terminalAfterSeconds": receipt.terminal_after,
        "terminalStatus": receipt.terminal_status,
        "executionSeconds": receipt.execution_seconds,
        "estimatedUSD": receipt.estimated_cost,
        "reconciledUSD": receipt.reconciled_cost,
        "chargedUSD": usd(given.charge.amount),
        "measured": given.charge.measured,
        "note": receipt.note,
    }

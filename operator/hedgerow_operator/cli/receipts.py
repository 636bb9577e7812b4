"""`hedgerow receipts`: what is known about attempts that were given up, from a state directory or from a gateway."""

import asyncio
import contextlib
import json
import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import click

from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.cli.output import write
from hedgerow_operator.cli.views.columns import age, aligned
from hedgerow_operator.gateway.journal import read_receipts
from hedgerow_operator.gateway.receipts_page import as_object

_HEADER = ("AGE", "ENDPOINT", "PROVIDER", "JOB", "EVIDENCE", "LEAKED", "USD", "WHY", "NOTE")
_SECONDS = 10.0


def list_receipts(source: Path | str, endpoint: str | None, limit: int, leaked: bool, output: str | None) -> None:
    """source: a state directory, or a URL. Raises click.ClickException."""
    found = _read(source, endpoint, limit) if isinstance(source, Path) else _asked(source, endpoint, limit)
    shown = [one for one in found if one["leaked"] or not leaked]
    if output == "json":
        write("".join(json.dumps(one) + "\n" for one in shown))
        return
    now = time.time()
    write("\n".join(aligned([_HEADER, *(_cells(one, now) for one in shown)])) + "\n")


def _read(directory: Path, endpoint: str | None, limit: int) -> list[dict[str, Any]]:
    path = StatePaths(directory).journal
    if not path.is_file():
        raise click.ClickException(
            f"{directory} holds no journal of a gateway; name the state directory of one that has served an endpoint"
        )
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5.0)) as db:
            return [as_object(given) for given in read_receipts(db, limit, endpoint)]
    except (sqlite3.Error, ValueError) as error:
        raise click.ClickException(f"{path} cannot be read: {error}") from None


def _asked(url: str, endpoint: str | None, limit: int) -> list[dict[str, Any]]:
    if urlsplit(url).scheme not in ("http", "https"):
        raise click.ClickException(f"{url} is no address of a gateway; write it as http://HOST:PORT")
    try:
        return asyncio.run(_fetched(url.rstrip("/"), endpoint, limit))
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, KeyError) as error:
        why = str(error) or "no answer in time"
        raise click.ClickException(f"{url} cannot be asked for receipts: {why}") from None


async def _fetched(url: str, endpoint: str | None, limit: int) -> list[dict[str, Any]]:
    query = {"limit": str(limit), **({"endpoint": endpoint} if endpoint else {})}
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(f"{url}/receipts", params=query) as answer,
    ):
        if answer.status != 200:
            raise ValueError(f"it answers by HTTP {answer.status}; name the port that also has /metrics")
        found: list[dict[str, Any]] = (await answer.json())["receipts"]
        return found


def _cells(one: dict[str, Any], now: float) -> tuple[str, ...]:
    cost = f"{one['chargedUSD']:.5f}{'' if one['measured'] else '~'}"
    return (
        age(now - one["at"]),
        one["endpoint"],
        one["provider"],
        one["jobId"] or "-",
        one["evidence"],
        "yes" if one["leaked"] else "no",
        cost,
        one["why"] or "-",
        one["note"] or "-",
    )

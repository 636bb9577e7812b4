"""Messages reach a real HTTP server, or the run is told why not, and never waits for them."""

import asyncio
import socket
import time

import click
import pytest

from hedgerow_operator.cli.notify.webhook import Webhook, host_of
from tests.unit.cli.webhook_server import WebhookServer

_SOON = (0.01, 0.01)


async def _send(url: str, bodies: list[dict[str, int]], pauses: tuple[float, ...] = _SOON) -> list[str]:
    notes: list[str] = []
    async with Webhook(url, notes.append, pauses) as webhook:
        for entry in bodies:
            webhook.send(entry)
        await asyncio.sleep(0)
    return notes


ANSWERS = {
    "a server that takes them": ((), 3, None),
    "a server that fails at first": ((503, 429, 200), 3, None),
    "a server that refuses one": ((404, 200, 200), 2, "it answers HTTP 404"),
    "a server that sends them elsewhere": ((307, 200, 200), 2, "it answers HTTP 307"),
    "a server that fails for long": ((500, 500, 500), 2, "it answers HTTP 500"),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_messages_come_in_order_to(case: str) -> None:
    answers, arrive, why = ANSWERS[case]
    with WebhookServer(*answers).running() as server:
        notes = await _send(server.url, [{"n": 1}, {"n": 2}, {"n": 3}])
    assert [entry["n"] for entry in server.received] == [1, 2, 3][3 - arrive :]
    assert [note.rpartition(": ")[2] for note in notes] == ([] if why is None else [why])
    assert "SECRET" not in "".join(notes)
    assert set(server.paths) == {"/services/SECRET"}


async def test_a_server_that_is_not_there_is_told_without_the_secret_path() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        notes = await _send(f"http://127.0.0.1:{port}/services/SECRET", [{"n": 1}])
    (note,) = notes
    assert note == (
        f"a message to http://127.0.0.1:{port} could not be delivered: it cannot be reached (ClientConnectorError)"
    )


async def test_the_end_of_a_run_waits_only_a_while_for_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow_operator.cli.notify.webhook._CLOSING_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        notes = await _send(f"http://127.0.0.1:{silent.getsockname()[1]}/x", [{"n": 1}, {"n": 2}])
    assert time.monotonic() - start < 30  # its tries alone would take two minutes
    assert "2 messages to http://127.0.0.1" in notes[0]


@pytest.mark.parametrize(
    "url", ["", "hooks.slack.com/x", "ftp://host/x", "http://", "http://host:port/x", "http://[/x"]
)
def test_an_address_that_leads_nowhere_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(click.ClickException, match="write a whole one, such as https://") as refused:
        host_of(url)
    assert not url or url not in refused.value.message

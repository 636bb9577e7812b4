"""Vast's router, and what is sent to the worker that it names."""

from typing import Any

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.adapters.providers.values import address, decoded, mapping, text, words

ROUTE = "https://run.vast.ai/route/"
_SIGNED = ("signature", "cost", "endpoint", "reqnum", "url")


class Routed(Struct, frozen=True, kw_only=True):
    """url: of the worker, empty: none is free. auth: what it wants to see. status: in Vast's words."""

    url: str = ""
    auth: dict[str, Any] = {}
    status: str = ""


async def routed(connection: Connection, route: str, endpoint: str, cost: float) -> Routed:
    """Raises ProviderError. cost: of the request, in the units that the endpoint's workers count in."""
    what = f"the route to a worker of {endpoint}"
    reply = await connection.ask(what, "POST", route, json={"endpoint": endpoint, "cost": cost})
    said = mapping(read_json(what, reply))
    url = text(said.get("url")).rstrip("/")
    if not url:
        return Routed(status=words(said.get("status")) or "no worker")
    if address(url) is None:
        raise ProviderError(f"{what} was answered by {words(url)}, which is no address")
    auth = {name: said.get(name) for name in _SIGNED}
    return Routed(url=url, auth={**auth, "request_idx": said.get("request_idx", said.get("__request_id"))})


def body_of(call: Call, found: Routed) -> bytes:
    """What the worker takes. Raises ProviderError."""
    try:
        payload = decoded(call.body or b"{}")
    except ValueError as error:
        raise ProviderError(f"the request's input is {error}", safe_to_retry=True) from None
    return msgspec.json.encode({"auth_data": found.auth, "payload": payload})

"""What a user declares of an API: four calls, where the answers hold what, and which of its states mean what."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from hedgerow_operator.adapters.providers.declared.paths import picking
from hedgerow_operator.adapters.providers.values import address
from hedgerow_operator.api.address_rules import is_header_name, is_one_line
from hedgerow_operator.core.hedging.seen import AttemptState

# Instead of a path: the state is told by the HTTP status, as text.
HTTP_STATUS = "@status"
_PLACE = re.compile(r"\$\{([A-Za-z_][\w-]*)\}")


class DeclaredCall(Struct, frozen=True, kw_only=True):
    """url: absolute; {id} in it is the job's id. body: JMESPath over the request's JSON; empty: the request as it is
    for a submit, nothing otherwise.
    """

    url: str
    method: str = "GET"
    body: str = ""


class Declaration(Struct, frozen=True, kw_only=True):
    """status: None: ``submit`` answers when all is done. job, state, output, error: paths in the answers of submit,
    status, result (the status' own, where there is no result) and of a failure. states: theirs → ours, where VALID is
    done. headers: sent with each call; ${KEY} is that key of the Secret. ends_when_acknowledged: a cancel that is
    answered well ends the work. free_in_queue: one in the
    queue costs nothing. poll_seconds: between two looks; None: 0.2 at first, then up to 0.5.
    """

    submit: DeclaredCall
    job: str = "id"
    status: DeclaredCall | None = None
    state: str = "status"
    states: Mapping[str, AttemptState] = {}
    result: DeclaredCall | None = None
    output: str = ""
    error: str = "error"
    cancel: DeclaredCall | None = None
    health: DeclaredCall | None = None
    headers: Mapping[str, str] = {}
    ends_when_acknowledged: bool = False
    free_in_queue: bool = False
    poll_seconds: float | None = None


def check(declaration: Declaration) -> None:
    """Raises ValueError in a sentence."""
    calls = {name: getattr(declaration, name) for name in ("submit", "status", "result", "cancel", "health")}
    for name, call in calls.items():
        if call is None:
            continue
        if "@" in call.url.partition("://")[2].partition("/")[0]:
            raise ValueError(f"http.{name} holds credentials; put them into a Secret and name it in http.headers")
        if address(call.url) is None:
            raise ValueError(f"http.{name} asks {call.url!r}; write an address that begins with https://")
        if name in ("status", "result", "cancel") and "{id}" not in call.url:
            raise ValueError(f"http.{name} does not name the job; put {{id}} where its id belongs")
        picking(call.body)
    for path in (declaration.job, declaration.state, declaration.output, declaration.error):
        if path != HTTP_STATUS:
            picking(path)
    if declaration.status is not None and AttemptState.VALID not in declaration.states.values():
        raise ValueError("http.states names no state that means Valid; add for example COMPLETED: Valid")


def filled(headers: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """The headers with the secrets in their places. Raises ValueError that names what is missing or cannot be sent."""
    return {name: _filled(name, value, secrets) for name, value in headers.items()}


def url_of(call: DeclaredCall, job_id: str) -> str:
    """For this job, whatever its id is made of."""
    return call.url.replace("{id}", quote(job_id, safe=""))


def _filled(name: str, value: str, secrets: Mapping[str, str]) -> str:
    if not is_header_name(name):
        raise ValueError(f"http.headers: {name!r} is no name of a header; write one such as Authorization")
    for key in _PLACE.findall(value):
        if key not in secrets:
            raise ValueError(f"http.headers.{name} wants the key {key}, which the Secret does not have")
        if not is_one_line(secrets[key]):
            raise ValueError(f"http.headers.{name}: the Secret's {key} has a line break within; write it as one line")
    if not is_one_line(value):
        raise ValueError(f"http.headers.{name} has a line break, which no header can hold; write it as one line")
    return _PLACE.sub(lambda match: secrets[match[1]], value)

"""What a client is told: an answer as it is kept and sent, and every refusal in the shape that its protocol expects."""

from collections.abc import Mapping

import msgspec
from aiohttp import web
from msgspec import Struct

from hedgerow_operator.gateway.asked import LostError, WhyLost
from hedgerow_operator.gateway.settings import Speaks

_JSON = "application/json"
# Who answers, without the versions that aiohttp would tell.
SERVER = {"Server": "hedgerow"}
# How OpenAI's clients know what has happened, by the status that comes with it.
_OPENAI_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
_LOST_STATUS = {
    WhyLost.DEADLINE: 504,
    WhyLost.CLOSED: 503,
    WhyLost.NO_MONEY: 429,
    WhyLost.RATE_LIMITED: 429,
    WhyLost.FAILED: 502,
}


class Reply(Struct, frozen=True, kw_only=True):
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def response(self) -> web.Response:
        """As aiohttp sends it."""
        return web.Response(status=self.status, headers={**self.headers, **SERVER}, body=self.body)


class RefusedError(Exception):
    """The client's request is not taken. The message is one sentence. retry_after: seconds, where that helps."""

    def __init__(self, status: int, message: str, retry_after: float | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status, self.retry_after, self.code = status, retry_after, code


def as_refused(lost: LostError) -> RefusedError:
    """A request that nobody has answered."""
    code = "insufficient_quota" if lost.why is WhyLost.NO_MONEY else ""
    return RefusedError(_LOST_STATUS[lost.why], str(lost), lost.retry_after, code)


def refusal(error: RefusedError, speaks: Speaks, attempts: int | None = None) -> Reply:
    """As a client of this protocol expects it."""
    headers = {"Content-Type": _JSON}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if error.code == "insufficient_quota":
        headers["x-should-retry"] = "false"
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if attempts is not None:
        headers["X-Hedgerow-Attempts"] = str(attempts)
    return Reply(status=error.status, headers=headers, body=error_body(error, speaks))


def error_body(error: RefusedError, speaks: Speaks) -> bytes:
    """The JSON of it."""
    if speaks is not Speaks.OPENAI:
        return msgspec.json.encode({"error": str(error)})
    kind = _OPENAI_KINDS.get(error.status, "server_error")
    return msgspec.json.encode(
        {"error": {"message": str(error), "type": kind, "param": None, "code": error.code or None}}
    )


def json_reply(status: int, found: object) -> Reply:
    """A small answer of our own."""
    return Reply(status=status, headers={"Content-Type": _JSON}, body=msgspec.json.encode(found))

"""What is known about an attempt that was given up: graded, and bad until something better was seen."""

from enum import StrEnum

from msgspec import Struct


class Evidence(StrEnum):
    """Strongest last. NONE: nothing was seen. CHANNEL_CLOSED: the connection that the attempt ran by was broken off.
    ACKNOWLEDGED: the provider took the call, and nothing can be asked afterwards. TERMINAL: it was seen to have ended.
    """

    NONE = "no_evidence"
    CHANNEL_CLOSED = "request_channel_closed"
    ACKNOWLEDGED = "provider_ack"
    TERMINAL = "confirmed_terminal"


class Scope(StrEnum):
    """What the cancel reached."""

    QUEUED_JOB = "queued_job"
    REQUEST = "request"
    CONTAINER = "container"
    UNKNOWN = "unknown"


class Receipt(Struct, frozen=True, kw_only=True):
    """One attempt that was given up. Times are seconds since the cancel was sent; costs in US dollars.

    was_running: when it was cancelled; None: not known. terminal_status: only from a state that was seen, never from
    the code that the cancel call was answered by. leaked: true until it is proven that nothing runs any more.
    reconciled_cost: what the provider says; None: it has not said. note: for people, without secrets.
    """

    provider: str
    job_id: str
    evidence: Evidence = Evidence.NONE
    scope: Scope = Scope.UNKNOWN
    was_running: bool | None = None
    acknowledged_after: float | None = None
    terminal_after: float | None = None
    terminal_status: str = ""
    execution_seconds: float | None = None
    estimated_cost: float | None = None
    reconciled_cost: float | None = None
    leaked: bool = True
    note: str = ""

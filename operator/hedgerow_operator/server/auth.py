"""Who may report: the question that the report server asks before it believes anything."""

from typing import Protocol, TypeVar

from hedgerow.wire import JobRef


class Denied(Exception):
    """The report is not believed. The message is one sentence for the sender's log and never holds the token.

    identified: the sender is known and may not report this (403); otherwise nobody known sent it (401).
    """

    def __init__(self, message: str, *, identified: bool = False) -> None:
        super().__init__(message)
        self.identified = identified


class LauncherClaim(Protocol):
    """Whose report it says it is: a worker of a placement of a job."""

    @property
    def job(self) -> JobRef: ...
    @property
    def placement(self) -> int: ...
    @property
    def worker(self) -> int: ...


class AgentClaim(Protocol):
    """Whose report it says it is: the agent of a node."""

    @property
    def node(self) -> str: ...


Claim = TypeVar("Claim", contravariant=True)


class Authenticator(Protocol[Claim]):
    """Proof that a report comes from who it says that it comes from."""

    async def check(self, token: str | None, claim: Claim) -> None:
        """Return when the bearer token proves it. Raises Denied, or ports.Unreachable when nobody could be asked."""

    def recall(self, token: str, claim: Claim) -> bool:
        """Whether this is proven by what was found out already; False: it has to be checked. Raises Denied."""

"""Who may report: the question that the report server asks before it believes anything."""

from typing import Protocol

from hedgerow.wire import Report


class Denied(Exception):
    """The report is not believed. The message is one sentence for the launcher's log and never holds the token.

    identified: the sender is known and may not report this (403); otherwise nobody known sent it (401).
    """

    def __init__(self, message: str, *, identified: bool = False) -> None:
        super().__init__(message)
        self.identified = identified


class Authenticator(Protocol):
    """Proof that a report comes from a launcher of the job that it names."""

    async def check(self, token: str | None, report: Report) -> None:
        """Return when the bearer token proves it. Raises Denied, or ports.Unreachable when nobody could be asked."""

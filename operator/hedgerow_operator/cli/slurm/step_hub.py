"""Reports of launchers whose TrainingJob is made once the first of them says how many there are."""

import hmac
from collections.abc import Callable

from hedgerow.wire import Answer, Report
from hedgerow_operator.reconcile.held import Held
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.server.auth import Denied, LauncherClaim

# A launcher that is not known yet comes again after this.
_SOON_SECONDS = 0.3


class StepHub:
    """See server.intake.Hub. expected: whether launchers of this uid are ours. heard: called with each report."""

    def __init__(self, hub: ReportHub, expected: Callable[[str], bool], heard: Callable[[Report], None]) -> None:
        self._hub = hub
        self._expected = expected
        self._heard = heard

    def uid_known(self, uid: str) -> bool:
        """See Hub."""
        return self._hub.uid_known(uid) or self._expected(uid)

    def receive(self, report: Report) -> None:
        """See Hub."""
        self._heard(report)
        self._hub.receive(report)

    def hold(self, report: Report, reply: Callable[[Answer], None]) -> Held:
        """See Hub."""
        if self._hub.uid_known(report.job.uid):
            return self._hub.hold(report, reply)
        held = Held(report, reply, 0.0)
        reply(Answer(current=False, interval_seconds=_SOON_SECONDS))
        held.close()
        return held


class OneToken:
    """Believes whoever shows the token of this batch job's folder."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        """See server.auth.Authenticator."""
        self.recall(token, claim)

    def recall(self, token: str | None, claim: LauncherClaim) -> bool:
        """Likewise."""
        if not hmac.compare_digest((token or "").encode(errors="surrogateescape"), self._token):
            raise Denied("the token is not the one of this batch job")
        return True

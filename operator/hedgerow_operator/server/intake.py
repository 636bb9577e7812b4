"""From a body and a token to a believed report in its hub, and from there to the answer; the same for every door.

Cheap questions come first: who leads, whose token it is, what the head of the report says. The whole of it is read once
its sender is believed.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from hedgerow.wire import REPORTS_PATH, Answer, Report
from hedgerow.wire_agent import AGENT_REPORTS_PATH, AgentAnswer
from hedgerow_operator.reconcile.agents import Outline
from hedgerow_operator.reconcile.ports import Leadership, Unreachable
from hedgerow_operator.server.agent_decoding import decode_agent_report, decode_outline
from hedgerow_operator.server.asked import Asked, Closable, Reply
from hedgerow_operator.server.auth import AgentClaim, Authenticator, Denied, LauncherClaim
from hedgerow_operator.server.backlog import Backlog, Entry
from hedgerow_operator.server.decoding import Head, Malformed, decode_head, decode_report
from hedgerow_operator.server.faults import where
from hedgerow_operator.server.garbage import Garbage
from hedgerow_operator.server.kept_report import let_go
from hedgerow_operator.server.limits import SenderLimits
from hedgerow_operator.server.metrics import Metrics
from hedgerow_operator.server.refusal import Refusal

MAX_REPORT_BYTES = 1024 * 1024
PATHS = (REPORTS_PATH, AGENT_REPORTS_PATH)
_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class Hub(Protocol):
    """Where believed reports of launchers go and answers come from (reconcile.reports.ReportHub)."""

    def uid_known(self, uid: str) -> bool:
        """Whether a job of this uid exists."""

    def receive(self, report: Report) -> None:
        """Take a believed report."""

    def hold(self, report: Report, reply: Callable[[Answer], None]) -> Closable:
        """Answer at once, or hold the answer until there is a command or the next report is due."""


class AgentHub(Protocol):
    """Where believed reports of agents go (reconcile.agents.AgentHub)."""

    def follows(self, outline: Outline) -> bool:
        """Whether the same agent process has been heard before."""

    def receive_body(self, outline: Outline, body: bytes) -> AgentAnswer:
        """Take a believed report; the answer."""


class Agents:
    """Who hears the agents, and who says that they are agents."""

    def __init__(self, hub: AgentHub, authenticator: Authenticator[AgentClaim]) -> None:
        self.hub = hub
        self.authenticator = authenticator


class Intake:
    """Takes reports; needs a running loop. agents: None where no agent is expected."""

    def __init__(
        self,
        hub: Hub,
        authenticator: Authenticator[LauncherClaim],
        leadership: Leadership,
        metrics: Metrics,
        agents: Agents | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hub = hub
        self._authenticator = authenticator
        self._leadership = leadership
        self._metrics = metrics
        self._agents = agents
        self._limits = SenderLimits(clock)
        self._checks: set[asyncio.Task[None]] = set()
        self._garbage = Garbage()
        self.backlog = Backlog()

    def take(self, path: str, token: str | None, body: bytes, reply: Reply) -> Asked:
        """One report; ``reply`` is called with the answer, before this returns or much later."""
        asked = Asked(self._counting(reply))
        try:
            known = self.welcome(token)
            if path == AGENT_REPORTS_PATH:
                self._take_of_agent(asked, known, body)
            else:
                self._take_of_launcher(asked, known, body)
        except Refusal as refusal:
            asked.answer(refusal)
        return asked

    def welcome(self, token: str | None) -> str:
        """The token, where a body that comes with it is worth reading. Raises Refusal."""
        self._leading()
        return _checked(token)

    def count(self, refusal: Refusal) -> None:
        """A report was refused before it was here."""
        self._metrics.report_refused(refusal.status)

    def _take_of_launcher(self, asked: Asked, token: str, body: bytes) -> None:
        try:
            head = decode_head(body)
        except Malformed as error:
            raise Refusal(400, str(error)) from None
        uid = head.job.uid
        if not self._hub.uid_known(uid):
            raise Refusal(404, f"there is no job with uid {uid[:64]!r}; it was deleted or is not known yet")
        self._believe(
            self._authenticator,
            token,
            head,
            asked,
            lambda: self._admit(
                (uid, head.placement, head.worker), Entry(asked, body, self._read_of_launcher, head.launcher, head.seq)
            ),
        )

    def _take_of_agent(self, asked: Asked, token: str, body: bytes) -> None:
        if self._agents is None:
            raise Refusal(404, "this operator takes no reports of node agents; it was started without them")
        try:
            outline = decode_outline(body)
        except Malformed as error:
            raise Refusal(400, str(error)) from None
        read = partial(self._read_of_agent, outline)
        self._believe(
            self._agents.authenticator,
            token,
            outline,
            asked,
            lambda: self._admit(outline.node, Entry(asked, body, read, outline.agent, outline.seq)),
        )

    def _believe(
        self,
        authenticator: "Authenticator[Head] | Authenticator[Outline]",
        token: str,
        head: "Head | Outline",
        asked: Asked,
        then: Callable[[], None],
    ) -> None:
        """Go on at once where the token is known; else once it has been checked."""
        checks: Authenticator[Head | Outline] = authenticator  # type: ignore[assignment]
        try:
            if checks.recall(token, head):
                then()
                return
        except Denied as denied:
            raise _refused(denied) from None
        task = asyncio.get_running_loop().create_task(self._check(checks, token, head, asked, then))
        self._checks.add(task)
        task.add_done_callback(self._checks.discard)

    async def _check(
        self,
        authenticator: "Authenticator[Head | Outline]",
        token: str,
        head: "Head | Outline",
        asked: Asked,
        then: Callable[[], None],
    ) -> None:
        try:
            await authenticator.check(token, head)
            then()
        except Denied as denied:
            asked.answer(_refused(denied))
        except Unreachable as error:
            asked.answer(Refusal(503, f"the token could not be checked: {error}", retry_after=1))
        except Refusal as refusal:
            asked.answer(refusal)
        except Exception as error:  # noqa: BLE001  (whatever it is, its sender gets a sentence)
            self._fault(asked, error)

    def _admit(self, sender: object, entry: Entry) -> None:
        wait = self._limits.wait_seconds(sender)
        if wait > 0.0:
            raise Refusal(
                429,
                "this sender reports too often; wait for the answer, which says when the next is due",
                retry_after=int(wait) + 1,
            )
        self.backlog.add(sender, entry)

    def _read_of_launcher(self, asked: Asked, body: bytes) -> None:
        try:
            report = decode_report(body)
            self._received()
            self._hub.receive(report)
            if asked.open:
                held = self._hub.hold(report, lambda answer: self._answer(asked, answer))
                if asked.open:
                    asked.held = held
            let_go(report)
        except Malformed as error:
            asked.answer(Refusal(400, str(error)))
        except Exception as error:  # noqa: BLE001
            self._fault(asked, error)

    def _read_of_agent(self, outline: Outline, asked: Asked, body: bytes) -> None:
        assert self._agents is not None
        try:
            if not self._agents.hub.follows(outline):
                decode_agent_report(body)
            self._received()
            asked.answer(_encode(self._agents.hub.receive_body(outline, body)))
        except Malformed as error:
            asked.answer(Refusal(400, str(error)))
        except Exception as error:  # noqa: BLE001
            self._fault(asked, error)

    def _received(self) -> None:
        self._metrics.report_received()
        self._garbage.left_by_report()

    def _answer(self, asked: Asked, answer: Answer) -> None:
        try:
            # The lease may have gone while the answer was held: what another leader knows better must not be said.
            self._leading()
        except Refusal as refusal:
            asked.answer(refusal)
        else:
            asked.answer(_encode(answer))

    def _leading(self) -> None:
        if not self._leadership.holds():
            raise Refusal(503, "this operator is not the leader; try again, another one answers", retry_after=1)

    def _counting(self, reply: Reply) -> Reply:
        def counted(what: bytes | Refusal) -> None:
            if isinstance(what, Refusal):
                self._metrics.report_refused(what.status)
            reply(what)

        return counted

    @staticmethod
    def _fault(asked: Asked, error: Exception) -> None:
        _log.error("a report could not be handled: %s", where(error))
        asked.answer(Refusal(500, "the operator could not handle the report; its log says where"))


def _checked(token: str | None) -> str:
    if not token:
        raise Refusal(401, 'the request carries no token; send the header "Authorization: Bearer TOKEN"')
    if not token.isascii():
        raise Refusal(401, "the token is not one that was given out: those are ASCII text")
    return token


def _refused(denied: Denied) -> Refusal:
    return Refusal(403 if denied.identified else 401, str(denied))

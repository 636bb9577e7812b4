"""Reports, a hub and an application for the tests of the report server."""

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec

from hedgerow import wire
from hedgerow_operator.reconcile.held import Held
from hedgerow_operator.server.app import make_app
from hedgerow_operator.server.auth import Denied, LauncherClaim
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.metrics import Metrics

TOKEN = "correct-horse"


def report(**changes: Any) -> wire.Report:
    """A report of worker 0 of a small job that trains."""
    plain = wire.Report(
        job=wire.JobRef(uid="uid-1", namespace="default", name="run"),
        placement=1,
        worker=0,
        workers=1,
        ranks_per_worker=1,
        boot="boot",
        launcher="launcher",
        seq=1,
        sent_monotonic=1.0,
        sent_wall=2.0,
        stage=wire.STAGE_RUNNING,
        attempt=1,
        ranks=[wire.RankReport(rank=0, local_rank=0, state=wire.RANK_RUNNING, beats=3, step=2)],
        durations={wire.PHASE_STEP: {4: 2}},
    )
    return dataclasses.replace(plain, **changes)


class RecordingHub:
    """Knows one job, keeps what it receives, answers at once."""

    def __init__(self) -> None:
        self.received: list[wire.Report] = []

    def uid_known(self, uid: str) -> bool:
        return uid == "uid-1"

    def receive(self, report: wire.Report) -> None:
        self.received.append(as_wired(report))

    def hold(self, report: wire.Report, reply: Callable[[wire.Answer], None]) -> Held:
        held = Held(report, reply, due=0.0)
        command = wire.Command(wire.COMMAND_START, attempt=2, resume_from="/c/step-20")
        reply(wire.Answer(current=True, deadlines={"step": 3.5}, commands=[command]))
        return held


class OneToken:
    """Believes one token, for worker 0 only."""

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        if token != TOKEN:
            raise Denied("the token is not this job's")
        if claim.worker != 0:
            raise Denied("the token is worker 0's and the report is worker 1's", identified=True)

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        return False


class Leader:
    """Holds the lease unless told otherwise."""

    def __init__(self, leads: bool = True) -> None:
        self.leads = leads

    def holds(self) -> bool:
        return self.leads


class Server:
    """An application and everything it was made of."""

    def __init__(self) -> None:
        self.now = 0.0
        self.hub = RecordingHub()
        self.leader = Leader()
        self.metrics = Metrics()
        self.health = Health(clock=lambda: self.now, stuck_seconds=60.0)
        self.app = make_app(self.hub, OneToken(), self.leader, self.metrics, self.health)


def as_wired(read: wire.Report) -> wire.Report:
    """A report that was read, as its sender made it."""
    return msgspec.convert(read, wire.Report, from_attributes=True)

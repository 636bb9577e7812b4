"""The agent itself: a look a second at GPUs, kernel log and machine, and a report of what they say."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from hedgerow import gpu_faults
from hedgerow import gpu_reasons as reasons
from hedgerow.machine import boot_id
from hedgerow.wire_agent import (
    ACTION_INSPECT,
    ACTION_REBOOT,
    FAILED,
    HOST_VALUES,
    NOT_MEASURED,
    AgentReport,
    Finding,
    HostReport,
    in_range,
    worst,
)
from hedgerow_agent.devices.base import Source
from hedgerow_agent.gpus import Gpus
from hedgerow_agent.host.base import HostCheck, HostReading
from hedgerow_agent.host.memory import KILL_WINDOW_SECONDS
from hedgerow_agent.kernel_log.events import Events
from hedgerow_agent.kernel_log.line import Record, driver_load, gpu_message, oom_kill
from hedgerow_agent.kernel_log.sources import Source as KernelLog
from hedgerow_agent.lister import Lister
from hedgerow_agent.ranks import Ranks

HOST_SECONDS = 5.0
_MOST_READS = 1000


class Expected(Protocol):
    """Which GPUs there should be."""

    def __call__(self) -> tuple[int | None, list[str]]:
        """(how many, their PCI addresses where they are known); None: not known."""


class Agent:
    """One node. clock: CLOCK_BOOTTIME seconds. Everything in it is of fixed size."""

    def __init__(
        self,
        node: str,
        source: Source,
        kernel_log: KernelLog,
        host: list[HostCheck],
        clock: Callable[[], float],
        expected: Expected,
        loaded: Callable[[], str] = lambda: "",
        root: str = "",
    ) -> None:
        self.lister = Lister(source, clock, loaded)
        self.gpus = Gpus(clock)
        self.events = Events()
        self.findings: list[Finding] = []
        self._node = node
        self._clock = clock
        self._kernel_log = kernel_log
        self._host = host
        self._expected = expected
        self._ranks = Ranks(root)
        self._root = root
        self._around = HostReading()
        self._host_due = 0.0
        self._killed: deque[tuple[float, str]] = deque(maxlen=8)
        self._host_broken: dict[str, str] = {}
        self._reloads = self._openings = 0
        self._seq = 0
        self._name = os.urandom(8).hex()
        self._boot = boot_id()

    def tick(self, wait_seconds: float = 0.0) -> bool:
        """Look at everything once; True when what there is to say has changed. Waits for GPUs at most so long."""
        now = self._clock()
        self._list(now, wait_seconds)
        self._look(wait_seconds)
        # Who waits gets all that is there; else what is left is read at the next look.
        for _ in range(_MOST_READS if wait_seconds else 1):
            records = self._kernel_log.records()
            for record in records:
                self._hear(record, now)
            if not records:
                break
        if now >= self._host_due:
            self._host_due = now + HOST_SECONDS
            self._look_around()
        before = {_essence(finding) for finding in self.findings}
        self.findings = self._judge(now)
        return {_essence(finding) for finding in self.findings} != before

    def report(self, numbered: bool = True) -> AgentReport:
        """What is known now, complete in itself. numbered: it is one more of those that are sent."""
        now = self._clock()
        self._seq += numbered
        return AgentReport(
            node=self._node,
            boot=self._boot,
            agent=self._name,
            seq=self._seq,
            sent_monotonic=now,
            sent_wall=time.time(),
            host=socket.gethostname(),
            health=worst([finding.health for finding in self.findings] + ([] if len(self.gpus) else [NOT_MEASURED])),
            driver=self.lister.report(self._expected()[0]),
            gpus=[gpu.report(now, self.findings, self._ranks.of) for gpu in self.gpus],
            findings=self.findings,
            events=self.events.standing(now, self.gpus.indexes()),
            around=HostReport(dict(self._around.values), self._around.disks, self._around.links),
            dropped=dict(self.gpus.dropped),
            broken={**self.gpus.broken(), **self._host_broken},
            kernel_log=self._kernel_log.words,
        )

    def close(self) -> None:
        """Let go of the kernel log."""
        self._kernel_log.close()

    def _list(self, now: float, wait_seconds: float) -> None:
        listed = self.lister.tick(now, wait_seconds)
        if listed is None:
            return
        if self.lister.openings != self._openings:
            self._openings = self.lister.openings
            self.gpus.renew()
        if self.lister.reloads != self._reloads:
            self._reloads = self.lister.reloads
            self.events.driver_loaded(now)
            self.gpus.begin_anew(listed)
        else:
            self.gpus.listed(listed)

    def _look(self, wait_seconds: float) -> None:
        """Take what the looks before gave and begin the next; who waits gets what begins now."""
        if wait_seconds and self.lister.open:
            self.gpus.look()
        words = self.gpus.collect(wait_seconds)
        if words:
            self.lister.lost_driver(words)
        elif self.lister.open and not wait_seconds:
            self.gpus.look()

    def _hear(self, record: Record, now: float) -> None:
        at = now - (0.0 if record.seconds is None else max(0.0, time.monotonic() - record.seconds))
        message, kill = gpu_message(record.text), oom_kill(record.text)
        if message is not None:
            self.events.add(message, at)
        elif driver_load(record.text):
            # Also before this process began: who reads an old log again must not take what was repaired for new.
            self.events.driver_loaded(at)
        if kill is not None:
            self._killed.append((at, f"{kill.process} (PID {kill.pid})"))

    def _look_around(self) -> None:
        since = self._clock() - KILL_WINDOW_SECONDS
        reading = HostReading(killed=[name for at, name in self._killed if at >= since])
        self._host_broken = {}
        for check in self._host:
            try:
                check.sample(self._root, reading)
            except Exception as error:  # noqa: BLE001 (one broken check never stops the others)
                self._host_broken[check.name] = f"{type(error).__name__}: {error}"[:200]
        reading.values = in_range(reading.values, HOST_VALUES, self.gpus.dropped)
        self._around = reading

    def _judge(self, now: float) -> list[Finding]:
        found = [finding for gpu in self.gpus for finding in gpu.findings(now)]
        found += [one for event in self.events.held(now, self.gpus.indexes()) for one in gpu_faults.of_event(event)]
        found += self._about_driver()
        for check in self._host:
            try:
                found += check.judge(self._around, now)
            except Exception as error:  # noqa: BLE001 (one broken check never stops the others)
                self._host_broken[check.name] = f"{type(error).__name__}: {error}"[:200]
        return found

    def _about_driver(self) -> list[Finding]:
        if self.lister.trouble:
            words = self.lister.trouble
            return [Finding("driver", NOT_MEASURED, reasons.DRIVER_MISSING, ACTION_INSPECT, words)]
        count, addresses = self._expected()
        # Those that are known and lost have a finding of their own.
        if count is not None and count > len(self.gpus):
            unknown = sorted(set(addresses) - set(self.gpus.indexes()))
            words = f"the driver holds {count} GPUs, and {len(self.gpus)} are listed" + (
                f": {', '.join(unknown)} cannot be asked" if unknown else ""
            )
            return [Finding("presence", FAILED, reasons.GPU_MISSING, ACTION_REBOOT, words)]
        if not len(self.gpus):
            return [Finding("presence", NOT_MEASURED, reasons.NO_GPU, ACTION_INSPECT, "no GPU is listed")]
        return []


def _essence(finding: Finding) -> tuple[object, ...]:
    """What of a finding makes it another one; ages and numbers in its words do not."""
    return (finding.check, finding.gpu, finding.health, finding.reason, finding.action)

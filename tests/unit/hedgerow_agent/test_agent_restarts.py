"""An agent that begins anew knows from the kernel's log what was before, and takes nothing that is over for news."""

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow.gpu_faults import HOLD_SECONDS
from hedgerow.wire_agent import ACTION_REBOOT, FAILED, HEALTHY
from hedgerow_agent.agent import Agent, Expected
from hedgerow_agent.devices.fake import FakeSource
from hedgerow_agent.kernel_log.sources import Kmsg
from tests.unit.hedgerow_agent.node import WAIT_SECONDS, Clock, gpus

LOST = "NVRM: Xid (PCI:0000:04:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
LOADED = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023"
LOADED_OPEN = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build"
RECOVERED = "NVRM: Xid (PCI:0000:04:00): 154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)"


class HeldLog(Kmsg):
    """/dev/kmsg with what the kernel still holds: a read gives one record, from the oldest on."""

    def __init__(self, *held: tuple[float, str]) -> None:
        super().__init__("a kernel log of the test")
        self._there, self._here = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        now = time.monotonic()
        for number, (ago, text) in enumerate(held):
            self._there.send(f"3,{number},{round((now - ago) * 1e6)},-;{text}\n".encode())

    def open(self) -> int:
        self._here.setblocking(False)
        return os.dup(self._here.fileno())

    def close(self) -> None:
        super().close()
        self._there.close()
        self._here.close()


class Begun:
    """An agent that has just begun on a machine that has been on for long, and what it found."""

    def __init__(self, folder: Path, *held: tuple[float, str]) -> None:
        (folder / "gpus.json").write_text(json.dumps(gpus(8)))
        self.clock = Clock()
        self.clock.now = 1_000_000.0
        source, self.log = FakeSource(str(folder / "gpus.json"), self.clock, "node-1"), HeldLog(*held)
        known: Expected = lambda: (source.expected(), [])  # noqa: E731
        self.agent = Agent("node-1", source, self.log, [], self.clock, known, source.load)
        self.agent.tick(WAIT_SECONDS)

    def reasons(self) -> list[tuple[str, str, int | None]]:
        """What is found: reason, health, GPU."""
        return [(one.reason, one.health, one.gpu) for one in self.agent.report().findings]


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[list[Begun]]:
    """Those that a test made; their logs are closed in the end."""
    made: list[Begun] = []
    yield made
    for one in made:
        one.agent.close()


CASES = {
    "a fatal Xid before its start counts": ([(600.0, LOST)], True),
    "one that is older than it counts is none any more": ([(HOLD_SECONDS + 60.0, LOST)], False),
    "what was before the driver was loaded anew is over": ([(600.0, LOST), (300.0, LOADED)], False),
    "also where it is the open driver": ([(600.0, LOST), (300.0, LOADED_OPEN)], False),
    "what came after it counts": ([(900.0, LOADED), (600.0, LOST)], True),
    "what the driver took back is over": ([(600.0, LOST), (300.0, RECOVERED)], False),
    "and counts when it comes again": ([(600.0, LOST), (300.0, LOADED), (200.0, LOST)], True),
}


@pytest.mark.parametrize("case", CASES)
def test_of_an_agent_that_begins_anew(case: str, tmp_path: Path, begun: list[Begun]) -> None:
    held, counts = CASES[case]
    begun.append(Begun(tmp_path, *held))
    assert begun[0].reasons() == ([("Xid79", FAILED, 3)] if counts else [])
    assert begun[0].agent.report().health == (FAILED if counts else HEALTHY)


def test_an_event_is_as_old_as_the_kernel_says_and_not_as_the_agent(tmp_path: Path, begun: list[Begun]) -> None:
    begun.append(Begun(tmp_path, (600.0, LOST)))
    (event,) = begun[0].agent.report().events
    assert event.action == ACTION_REBOOT
    assert 600.0 <= event.age < 660.0
    begun[0].clock.now += HOLD_SECONDS - 500.0
    begun[0].agent.tick(WAIT_SECONDS)
    assert begun[0].reasons() == []


def test_a_long_log_is_read_to_its_end_before_the_first_report(tmp_path: Path, begun: list[Begun]) -> None:
    noise = [(900.0, f"audit: line {number}") for number in range(150)]
    begun.append(Begun(tmp_path, *noise, (600.0, LOST)))
    assert begun[0].reasons() == [("Xid79", FAILED, 3)]

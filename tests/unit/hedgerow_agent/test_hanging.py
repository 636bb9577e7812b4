"""What never returns holds nobody: a GPU, a disk, the driver's library."""

import threading
import time
from pathlib import Path

import pytest

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import GPU_PRESENT, GPU_SILENT, NOT_MEASURED
from hedgerow_agent.bounded import Bounded
from hedgerow_agent.host.base import HostReading
from hedgerow_agent.host.disk import Disk
from tests.unit.hedgerow_agent.node import HANGING_WAIT_SECONDS, Clock, Node, story
from tests.unit.hedgerow_agent.polling import until


def test_a_call_that_hangs_keeps_its_thread_and_no_other_is_added() -> None:
    clock, free = Clock(), threading.Event()
    thread = Bounded("hanging", clock)
    before = threading.active_count()
    assert thread.start(free.wait)
    clock.now += 60
    assert [thread.start(free.wait) for _ in range(50)] == [False] * 50
    assert threading.active_count() <= before + 1
    assert (thread.busy_seconds(), thread.take()) == (60.0, None)
    free.set()
    assert until(lambda: thread.take()) is not None
    assert thread.start(lambda: 7)
    outcome = until(lambda: thread.take())
    assert outcome is not None
    assert outcome.value == 7
    thread.end()


def test_what_a_call_raises_is_its_outcome() -> None:
    thread = Bounded("raising", time.monotonic)
    thread.start(lambda: 1 // 0)
    outcome = thread.take(5.0)
    assert outcome is not None
    assert isinstance(outcome.error, ZeroDivisionError)
    thread.end()


def test_a_look_does_not_wait_for_a_gpu_that_hangs(tmp_path: Path) -> None:
    node = Node(tmp_path, story(8, {"at": 10, "gpu": 3, "state": "Hung"}))
    node.clock.now += 20
    before = time.monotonic()
    for _ in range(100):
        node.agent.tick()
    assert time.monotonic() - before < 100 * HANGING_WAIT_SECONDS / 2


def test_a_gpu_that_hangs_is_not_measured_and_the_others_are(tmp_path: Path) -> None:
    steps = [{"at": 10, "gpu": 3, "state": "Hung"}, {"at": 60, "gpu": 3, "state": "Present"}]
    node = Node(tmp_path, story(4, *steps))
    node.looks(40)
    assert [gpu.state for gpu in node.report().gpus] == [GPU_PRESENT, GPU_PRESENT, GPU_PRESENT, GPU_SILENT]
    assert node.report().health == NOT_MEASURED
    node.looks(30)
    assert [gpu.state for gpu in node.report().gpus] == [GPU_PRESENT] * 4


def test_a_library_that_hangs_while_listing_leaves_the_agent_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, free = Node(tmp_path, story(2)), threading.Event()
    listed, node.wait = node.source.devices, HANGING_WAIT_SECONDS
    monkeypatch.setattr(node.source, "devices", lambda: (free.wait(), listed())[1])
    node.looks(40)
    assert "fake has not answered for" in node.report().driver.trouble
    assert [one.reason for one in node.findings()] == [reasons.DRIVER_MISSING]
    assert [gpu.state for gpu in node.report().gpus] == [GPU_PRESENT] * 2
    free.set()
    node.looks(20)
    assert (node.report().driver.trouble, node.report().driver.reloads) == ("", 0)


def test_a_disk_that_hangs_is_said_and_holds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, clock = threading.Event(), Clock()
    monkeypatch.setattr("hedgerow_agent.host.disk.os.statvfs", lambda path: free.wait())
    monkeypatch.setattr("hedgerow_agent.host.disk.time.monotonic", clock)
    disk = Disk(["/checkpoints"])
    for _ in range(3):
        reading = HostReading()
        disk.sample("", reading)
        clock.now += 11
    assert [one.error for one in reading.disks] == ["it has not answered for 22 s"]
    (finding,) = disk.judge(reading, 0.0)
    assert (finding.health, finding.reason) == (NOT_MEASURED, reasons.DISK_SILENT)
    free.set()

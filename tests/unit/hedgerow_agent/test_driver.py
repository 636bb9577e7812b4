"""A driver that is not there, goes, and comes back under the agent's feet."""

import time
from pathlib import Path

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import GPU_LOST, GPU_PRESENT, HEALTHY, NOT_MEASURED
from hedgerow_agent.devices.fake import FakeDevice, FakeSource
from tests.unit.hedgerow_agent.node import Node, story

XID = "NVRM: Xid (PCI:0000:01:00): 119, Timeout after 6s of waiting for RPC response from GPU0 GSP!"


def test_without_a_driver_nothing_is_measured_and_nothing_is_sick(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 0, "driver": "Driver Not Loaded"}))
    report = node.report()
    assert (report.health, report.gpus, report.driver.trouble) == (
        NOT_MEASURED, [], "the fake driver says: Driver Not Loaded")  # fmt: skip
    assert [one.reason for one in report.findings] == [reasons.DRIVER_MISSING]


def test_a_driver_that_comes_later_is_found(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 0, "driver": "Driver Not Loaded"}, {"at": 30, "driver": None}))
    node.looks(60)
    assert (node.report().health, len(node.report().gpus)) == (HEALTHY, 2)


def test_gpus_of_a_driver_that_goes_are_not_measured_instead_of_lost(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 10, "driver": "Driver Not Loaded"}))
    node.looks(60)
    report = node.report()
    assert report.health == NOT_MEASURED
    assert GPU_LOST not in [gpu.state for gpu in report.gpus]
    assert [gpu.values for gpu in report.gpus] == [{}, {}]


def test_a_driver_that_is_loaded_anew_ends_what_was_before(tmp_path: Path) -> None:
    steps = [{"at": 5, "kernel": XID}, {"at": 20, "driver": "Driver Not Loaded"},
             {"at": 40, "driver": None, "version": "550.1"}]  # fmt: skip
    node = Node(tmp_path, story(2, *steps))
    node.looks(15)
    assert [one.reason for one in node.findings()] == ["Xid119"]
    node.looks(60)
    report = node.report()
    assert (report.health, report.driver.version, report.driver.reloads) == (HEALTHY, "550.1", 1)
    assert [event.recovered for event in report.events] == [True]
    assert [gpu.state for gpu in report.gpus] == [GPU_PRESENT] * 2


def test_a_gpu_that_is_lost_stays_lost_while_the_driver_stays(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 5, "gpu": 1, "state": "Unlisted"}))
    node.looks(300, every=20)
    assert [gpu.state for gpu in node.report().gpus] == [GPU_PRESENT, GPU_LOST]
    assert [one.age for one in node.findings()] == [280.0]


def test_a_gpu_that_comes_back_is_measured_again(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 5, "gpu": 1, "state": "Lost"}, {"at": 30, "gpu": 1, "state": "Present"}))
    node.looks(20)
    assert node.gpu(1).state == GPU_LOST
    node.looks(30)
    assert (node.gpu(1).state, node.report().health) == (GPU_PRESENT, HEALTHY)


def test_the_driver_is_let_go_of_when_asked_and_taken_again(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2))
    node.agent.lister.release(node.clock(), 120.0)
    node.looks(60)
    assert node.report().driver.trouble == "let go of the driver for 120 s, as asked"
    assert not node.agent.lister.open
    node.looks(80)
    assert (node.report().health, node.report().driver.reloads) == (HEALTHY, 0)


def test_metrics_that_are_read_are_no_reports(tmp_path: Path) -> None:
    node = Node(tmp_path, story(1))
    assert [node.agent.report(numbered=one).seq for one in (True, False, False, True)] == [1, 1, 1, 2]


def test_gpus_of_two_fake_nodes_are_not_the_same(tmp_path: Path) -> None:
    path = str(Node(tmp_path, story(2)).path)
    found = [FakeDevice(FakeSource(path, time.monotonic, node), 0).identity.uuid for node in ("a", "b", "a")]
    assert found[0] == found[2] != found[1]


def test_a_look_says_whether_there_is_something_new(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 10, "gpu": 1, "set": {"remap_pending": 1, "remap_failed": 0}}))
    assert node.look(1) is False
    assert node.look(20) is True
    assert node.look(1) is False

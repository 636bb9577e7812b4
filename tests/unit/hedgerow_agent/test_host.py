"""What is said of the machine around the GPUs, from files of /proc and /sys as they really look."""

from pathlib import Path

import pytest

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import DEGRADED, HOST_VALUES, Finding, in_range
from hedgerow_agent import expected
from hedgerow_agent.host import host_checks
from hedgerow_agent.host.base import HostCheck, HostReading
from hedgerow_agent.host.clock import Clock as WallClock
from hedgerow_agent.host.disk import Disk
from hedgerow_agent.host.memory import Memory
from hedgerow_agent.host.network import Network
from tests.unit.hedgerow_agent.node import Node, gpus
from tests.unit.hedgerow_agent.polling import until

MEMINFO = "MemTotal:       263832952 kB\nMemFree:        10 kB\nMemAvailable:   131916476 kB\n"
PRESSURE = "some avg10={0} avg60=0.00 avg300=0.00 total=1\nfull avg10={0} avg60=0.00 avg300=0.00 total=1\n"
PORT = "/sys/class/infiniband/mlx5_0/ports/1"


def put(root: Path, files: dict[str, str]) -> str:
    """Write files below a root that stands for the host's."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return str(root)


def look(check: HostCheck, root: str, now: float) -> tuple[HostReading, list[Finding]]:
    reading = HostReading()
    check.sample(root, reading)
    return reading, check.judge(reading, now)


def test_memory_is_read_and_pressure_that_lasts_is_said(tmp_path: Path) -> None:
    check = Memory()
    root = put(tmp_path, {"/proc/meminfo": MEMINFO, "/proc/pressure/memory": PRESSURE.format("25.50"),
                          "/proc/vmstat": "pgfault 9\noom_kill 2\n"})  # fmt: skip
    reading, findings = look(check, root, 0.0)
    assert reading.values == {
        "memory_total_bytes": 263832952 * 1024, "memory_available_bytes": 131916476 * 1024,
        "memory_pressure_some_percent": 25.5, "memory_pressure_full_percent": 25.5, "oom_kills": 2,
    }  # fmt: skip
    assert findings == []
    _, findings = look(check, root, 31.0)
    assert [(one.reason, one.health) for one in findings] == [(reasons.MEMORY_PRESSURE, DEGRADED)]


def test_a_process_that_was_ended_for_memory_is_said(tmp_path: Path) -> None:
    check = Memory()
    look(check, put(tmp_path, {"/proc/vmstat": "oom_kill 2\n"}), 0.0)
    _, findings = look(check, put(tmp_path, {"/proc/vmstat": "oom_kill 5\n"}), 5.0)
    assert [one.message for one in findings] == ["the kernel ended 3 processes lately because memory was short"]


def test_whom_the_kernel_ended_is_named_from_its_log(tmp_path: Path) -> None:
    root = put(tmp_path, {"/proc/vmstat": "oom_kill 2\n"})
    node = Node(tmp_path, gpus(1), root=root, host=[Memory()])
    put(tmp_path, {"/proc/vmstat": "oom_kill 3\n"})
    node.log.write("Out of memory: Killed process 4321 (python3) total-vm:1kB, anon-rss:2kB")
    node.looks(12)
    (finding,) = node.findings(reasons.OOM_KILL)
    assert finding.message.endswith("because memory was short: python3 (PID 4321)")


def test_a_machine_that_tells_nothing_has_no_values_and_no_faults(tmp_path: Path) -> None:
    for check in host_checks([]):
        if not isinstance(check, WallClock):
            reading, findings = look(check, str(tmp_path), 0.0)
            assert (reading, findings) == (HostReading(), [])


def test_an_infiniband_port_is_read_and_missed_when_it_goes_down(tmp_path: Path) -> None:
    files = {
        f"{PORT}/state": "4: ACTIVE\n", f"{PORT}/rate": "400 Gb/sec (4X NDR)\n",
        f"{PORT}/counters/port_rcv_data": "1000\n", f"{PORT}/counters/port_xmit_data": "2000\n",
        f"{PORT}/counters/symbol_error": "3\n", f"{PORT}/counters/link_downed": "1\n",
    }  # fmt: skip
    check = Network()
    reading, findings = look(check, put(tmp_path, files), 0.0)
    (link,) = reading.links
    assert (link.name, link.kind, link.up, link.bytes_per_second) == ("mlx5_0/1", "InfiniBand", True, 50e9)
    assert (link.received_bytes, link.transmitted_bytes, link.errors, link.downs) == (4000, 8000, 3, 1)
    assert findings == []
    _, findings = look(check, put(tmp_path, {f"{PORT}/state": "1: DOWN\n"}), 5.0)
    assert [one.reason for one in findings] == [reasons.LINK_DOWN]
    back = {f"{PORT}/state": "4: ACTIVE\n", f"{PORT}/counters/link_downed": "2\n"}
    _, findings = look(check, put(tmp_path, back), 10.0)
    assert [one.message for one in findings] == ["mlx5_0/1 went down 1 times lately"]


def test_of_interfaces_only_hardware_is_looked_at(tmp_path: Path) -> None:
    net = "/sys/class/net"
    root = put(tmp_path, {
        f"{net}/eth0/device/vendor": "0x15b3\n", f"{net}/eth0/operstate": "up\n", f"{net}/eth0/speed": "100000\n",
        f"{net}/eth0/statistics/rx_bytes": "7\n", f"{net}/eth0/statistics/tx_bytes": "8\n",
        f"{net}/eth0/statistics/rx_errors": "1\n", f"{net}/eth0/statistics/tx_errors": "2\n",
        f"{net}/veth1/operstate": "down\n", f"{net}/eth1/device/vendor": "x", f"{net}/eth1/operstate": "down\n",
        f"{net}/eth1/speed": "-1\n",
    })  # fmt: skip
    reading, findings = look(Network(), root, 0.0)
    assert [(one.name, one.up, one.bytes_per_second, one.errors) for one in reading.links] == [
        ("eth0", True, 12.5e9, 3), ("eth1", False, None, None)]  # fmt: skip
    assert findings == []


def test_the_disk_of_a_checkpoint_path_is_measured(tmp_path: Path) -> None:
    check = Disk([str(tmp_path)])
    (disk,) = until(lambda: look(check, "", 0.0)[0].disks)
    assert disk.total_bytes is not None
    assert disk.free_bytes is not None
    assert 0 < disk.free_bytes <= disk.total_bytes


def test_a_checkpoint_path_that_is_not_there_is_said() -> None:
    check = Disk(["/no/such/place"])
    (disk,) = until(lambda: look(check, "", 0.0)[0].disks)
    assert disk.error == "No such file or directory"


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        f_favail, f_files, f_bavail, f_frsize, f_blocks = 50, 100, 1, 10**9, 1000

    monkeypatch.setattr("hedgerow_agent.host.disk.os.statvfs", lambda path: Full)
    check = Disk(["/checkpoints"])
    until(lambda: look(check, "", 0.0)[0].disks)
    _, findings = look(check, "", 0.0)
    assert [one.message for one in findings] == ["/checkpoints has 1.0 GB free of 1000.0"]


def test_the_wall_clock_is_looked_at_without_changing_it() -> None:
    reading, findings = look(WallClock(), "", 0.0)
    assert reading.values["clock_synchronised"] in (0.0, 1.0)
    assert in_range(reading.values, HOST_VALUES, {}) == reading.values
    assert findings == []


def test_a_clock_that_stays_seconds_off_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hedgerow_agent.host.clock._look", lambda: {"clock_synchronised": 1.0, "clock_offset_seconds": -3.0}
    )
    check = WallClock()
    assert look(check, "", 0.0)[1] == []
    assert [one.message for one in look(check, "", 61.0)[1]] == ["the wall clock is -3.0 s off"]


def test_the_gpus_that_should_be_there_are_those_of_the_driver_with_a_file_here(tmp_path: Path) -> None:
    gpus = "/proc/driver/nvidia/gpus"
    root = put(tmp_path, {
        f"{gpus}/0000:9b:00.0/information": "Model: \t\t NVIDIA A100\nDevice Minor: \t 3\n",
        f"{gpus}/0000:ba:00.0/information": "Model: \t\t NVIDIA A100\nDevice Minor: \t 4\n",
        "/dev/nvidia3": "",
    })  # fmt: skip
    assert expected.addresses(root) == ["0000:9b:00.0"]
    assert expected.addresses(str(tmp_path / "other")) is None


def test_a_driver_that_is_loaded_anew_has_another_word(tmp_path: Path) -> None:
    assert expected.driver_load(str(tmp_path)) == ""
    root = put(tmp_path, {"/sys/module/nvidia/version": "535.54.03\n"})
    before = expected.driver_load(root)
    assert before.endswith(" 535.54.03")
    (tmp_path / "sys/module/nvidia").rename(tmp_path / "sys/module/before")
    put(tmp_path, {"/sys/module/nvidia/version": "535.54.03\n"})
    assert expected.driver_load(root) != before

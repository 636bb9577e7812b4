"""What the kernel's messages mean for a GPU, and for how long."""

from pathlib import Path

import pytest

from hedgerow.wire_agent import (
    ACTION_APPLICATION,
    ACTION_IGNORE,
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    ACTIONS,
    DEGRADED,
    FAILED,
    HEALTHY,
    GpuEvent,
)
from hedgerow.xid_codes import meaning
from hedgerow_agent.kernel_log.events import MAX_EVENTS, Events
from hedgerow_agent.kernel_log.line import gpu_message, record
from hedgerow_agent.kernel_log.recovery import recovery
from tests.unit.hedgerow_agent.node import Node, gpus

GPU = "0000:9b:00.0"
FATAL_NVLINK = "149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)"
MEANINGS = {
    "a page fault is the program's": ("31, pid=1, name=python3, MMU Fault", ACTION_APPLICATION, False),
    "an exception of a kernel is the program's": ("13, Graphics SM Warp Exception", ACTION_APPLICATION, False),
    "a channel that is cleaned up follows something else": ("45, pid=1, name=a, Ch 00000008", ACTION_IGNORE, False),
    "a double-bit error asks for a reset": ("48, DBE", ACTION_RESET, True),
    "a remapped row is handled": ("63, Row remapping pending", ACTION_IGNORE, False),
    "a row that could not be remapped asks for a reset": ("64, Row remapping failure", ACTION_RESET, True),
    "a contained error ends its program only": ("94, Contained ECC error", ACTION_APPLICATION, False),
    "an uncontained one asks for a reset": ("95, Uncontained ECC error", ACTION_RESET, True),
    "a GPU off the bus asks for a reboot": ("79, GPU has fallen off the bus.", ACTION_REBOOT, True),
    "a GSP that is silent asks for a reset": ("119, Timeout after 6s of waiting for RPC", ACTION_RESET, True),
    "power that is not connected is for a person": ("54, Auxiliary power", ACTION_INSPECT, True),
    "an NVLink error says itself that it is fatal": (FATAL_NVLINK, ACTION_RESET, True),
    "or that it is not": ("145, RLW_REMAP Nonfatal XC0 i0 Link 00 (0x4 0x1)", ACTION_IGNORE, False),
    "cut short it is for a person": ("149, NETIR", ACTION_INSPECT, False),
    "a code that nobody knows is for a person": ("999, what", ACTION_INSPECT, False),
}


def heard(*lines: str, at: float = 100.0, events: Events | None = None, pci: str = "0000:9b:00") -> Events:
    """Events of these Xids, each a second after the one before."""
    events = events or Events()
    for place, line in enumerate(lines):
        message = gpu_message(f"NVRM: Xid (PCI:{pci}): {line}")
        assert message is not None
        events.add(message, at + place)
    return events


def by_code(events: Events, now: float = 200.0) -> dict[int, GpuEvent]:
    return {event.code: event for event in events.standing(now, {GPU: 4})}


@pytest.mark.parametrize("case", MEANINGS)
def test_of_xids(case: str) -> None:
    line, action, fatal = MEANINGS[case]
    (event,) = heard(line).standing(200.0, {GPU: 4})
    assert (event.action, event.fatal, event.gpu) == (action, fatal, 4)


def test_every_code_has_words_and_an_action_of_the_list() -> None:
    for code in range(1, 200):
        found = meaning(code)
        assert found.words
        assert found.action in ACTIONS


def test_a_burst_is_one_event_with_a_count() -> None:
    events = heard(*["119, Timeout after 6s of waiting for RPC response"] * 40)
    (event,) = events.standing(239.0, {})
    assert (event.count, event.first_age, event.age) == (40, 139.0, 100.0)


@pytest.mark.shared_data
def test_the_recorded_burst_of_xid_119_is_one_incident_of_its_gpu(shared_data: Path, tmp_path: Path) -> None:
    node = Node(tmp_path, {"gpus": [{"profile": "a100", "pci": "0000:9b:00.0"}]})
    for line in (shared_data / "gpu" / "kernel_logs" / "dmesg-with-xid-119.log").read_text().splitlines():
        node.log.write(line)
    node.look(5)
    (event,) = node.report().events
    assert (event.code, event.count, event.gpu, event.action) == (119, 5, 0, ACTION_RESET)
    assert [(one.reason, one.health, one.gpu) for one in node.findings()] == [("Xid119", FAILED, 0)]


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["kmsg.1.log", "kmsg.2.peermem.log", "fabricmanager.log"])
def test_a_recorded_log_without_xids_says_nothing_against_a_gpu(shared_data: Path, tmp_path: Path, name: str) -> None:
    node = Node(tmp_path, gpus(2))
    for line in (shared_data / "gpu" / "kernel_logs" / name).read_text(errors="replace").splitlines():
        node.log.write(line)
    node.look(5)
    assert (node.report().health, node.report().events) == (HEALTHY, [])


RECOVERY = "154, GPU recovery action changed from 0x0 (None) to 0x%d (%s)"


def test_xid_154_says_better_than_the_table_what_is_to_be_done() -> None:
    found = by_code(heard(FATAL_NVLINK, RECOVERY % (2, "Node Reboot Required")))
    assert (found[149].action, found[149].fatal) == (ACTION_REBOOT, True)
    assert (found[154].action, found[154].fatal) == (ACTION_REBOOT, True)


def test_xid_154_that_comes_just_before_its_cause_counts_for_it_as_well() -> None:
    found = by_code(heard(RECOVERY % (4, "Drain and Reset"), FATAL_NVLINK))
    assert (found[149].action, found[149].fatal) == (ACTION_RESET, False)


def test_xid_154_to_none_ends_what_was_before() -> None:
    events = heard(FATAL_NVLINK, RECOVERY % (1, "GPU Reset Required"))
    heard("154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", at=150.0, events=events)
    assert events.held(200.0, {}) == []
    assert all(event.recovered for event in events.standing(200.0, {}))


def test_a_fault_after_a_recovery_is_a_new_one() -> None:
    events = heard(FATAL_NVLINK)
    events.driver_loaded(150.0)
    heard(FATAL_NVLINK, at=160.0, events=events)
    (event,) = events.held(200.0, {})
    assert (event.count, event.first_age) == (1, 40.0)


def test_xid_154_of_one_gpu_says_nothing_of_another() -> None:
    events = heard(FATAL_NVLINK)
    heard("154, GPU recovery action changed from 0x1 (x) to 0x0 (None)", at=150.0, events=events, pci="0000:01:00")
    assert [event.code for event in events.held(200.0, {})] == [149]


def test_a_recovery_action_that_is_not_known_is_for_a_person() -> None:
    assert recovery(99).action == ACTION_INSPECT
    assert recovery(99).health == DEGRADED


def test_an_event_counts_until_it_is_an_hour_old() -> None:
    events = heard("79, GPU has fallen off the bus.")
    assert len(events.held(100.0 + 3600, {})) == 1
    assert events.held(100.0 + 3601, {}) == []
    assert len(events.standing(100.0 + 3601, {})) == 1


def test_data_that_follow_a_fatal_sxid_take_nothing_back() -> None:
    events = Events()
    for text in ("20034, Fatal, Link 62 LTSSM Fault Up", "20034, Data {0x10000000, 0x10000000}"):
        message = gpu_message("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): " + text)
        assert message is not None
        events.add(message, 100.0)
    (event,) = events.standing(100.0, {})
    assert (event.fatal, event.count, event.action) == (True, 2, ACTION_RESET)


def test_however_many_kinds_of_messages_come_the_fatal_ones_are_kept() -> None:
    events = heard("79, GPU has fallen off the bus.")
    for code in range(200, 2000):
        heard(f"{code}, whatever", at=200.0, events=events)
    assert len(events.standing(300.0, {})) == MAX_EVENTS
    assert 79 in by_code(events)


def test_an_xid_of_a_program_says_nothing_against_its_gpu(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(1))
    node.log.write("NVRM: Xid (PCI:0000:01:00): 31, pid=7, name=python3, MMU Fault: ENGINE GRAPHICS")
    node.look(1)
    assert (node.report().health, [event.pid for event in node.report().events]) == (HEALTHY, [7])


def test_a_line_of_kmsg_that_is_old_makes_an_old_event() -> None:
    assert record("6,1,5000000,-;NVRM: x").seconds == 5.0

"""Lines of the kernel's log in all their forms, and what they say of GPUs and switches."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow_agent.kernel_log.line import GpuMessage, Record, gpu_message, oom_kill, record

TEXT = "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."
FORMS = {
    "a record of /dev/kmsg": ("6,3973,227986636,-;" + TEXT, 227.986636),
    "one with a continuation": (f"6,3973,1000000,-;{TEXT}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:9b:00.0", 1.0),
    "one of a process, as a test of the monitoring writes it": ("12,7,2000000,-;" + TEXT, 2.0),
    "dmesg": ("[  123.456789] " + TEXT, 123.456789),
    "the journal": ("[  123.456789] kernel: " + TEXT, 123.456789),
    "dmesg with times of the wall": ("[Sun Feb 23 16:24:18 2025] " + TEXT, None),
    "syslog": ("Feb 23 16:24:18 node-1 kernel: " + TEXT, None),
    "syslog with the kernel's time": ("Feb 23 16:24:18 node-1 kernel: [  12.5] " + TEXT, 12.5),
    "syslog with an ISO time": ("2025-02-23T16:24:18.1+00:00 node-1 kernel: " + TEXT, None),
    "the text alone": (TEXT, None),
}
MESSAGES: dict[str, tuple[str, tuple[str, str, int, int | None, str]]] = {
    "an Xid without a process": (TEXT, ("Xid", "0000:9b:00.0", 79, None, "")),
    "an Xid with a process": (
        "NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s",
        ("Xid", "0000:9b:00.0", 119, 2024380, "nvidia-smi")),
    "an Xid with an unknown process": (
        "NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ("Xid", "0000:05:00.0", 79, None, "")),
    "an Xid of a PCI domain that is not the first": (
        "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed", ("Xid", "0008:01:00.0", 154, None, "")),
    "an Xid that is nothing but its number": ("NVRM: Xid (PCI:0000:04:00): 69", ("Xid", "0000:04:00.0", 69, None, "")),
    "an SXid": (
        "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
        ("SXid", "0000:05:00.0", 12028, None, "")),
}  # fmt: skip
NOT_MESSAGES = [
    "",
    "NVRM: Xid",
    "NVRM: Xid (PCI:zz): 79, x",
    "NVRM: GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d",
    "python[123]: said NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
    "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
]


@pytest.mark.parametrize("form", FORMS)
def test_the_text_is_found_in(form: str) -> None:
    line, seconds = FORMS[form]
    found = record(line)
    assert gpu_message(found.text) is not None
    assert seconds is None or found.seconds == seconds


@pytest.mark.parametrize("case", MESSAGES)
def test_the_message_is_read_of(case: str) -> None:
    text, expected = MESSAGES[case]
    found = gpu_message(text)
    assert found is not None
    assert found[:5] == expected


@pytest.mark.parametrize("text", NOT_MESSAGES)
def test_no_message_is_made_up_of(text: str) -> None:
    assert gpu_message(text) is None


def test_a_process_that_was_ended_for_memory_is_known() -> None:
    words = "Out of memory: Killed process 4321 (python3) total-vm:1kB, anon-rss:2kB"
    assert oom_kill(words) == (4321, "python3")
    assert oom_kill("oom_reaper: reaped process 4321 (python3)") is None


def test_a_name_that_looks_like_a_message_takes_nothing_over() -> None:
    found = gpu_message("NVRM: Xid (PCI:0000:9b:00): 31, pid=1, name=): 79, to 0x0 (, MMU fault")
    assert found is not None
    assert found.code == 31


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("dmesg-with-xid-119.log", 5),
        ("kmsg.1.log", 0),
        ("kmsg.2.peermem.log", 0),
        ("fabricmanager.log", 0),
        ("xid_sxid_messages.txt", 136),
    ],
)
def test_each_message_of_a_recorded_log_is_found(shared_data: Path, name: str, messages: int) -> None:
    lines = (shared_data / "gpu" / "kernel_logs" / name).read_text(errors="replace").splitlines()
    assert sum(gpu_message(record(line).text) is not None for line in lines) == messages


@settings(deadline=None)
@given(st.text(max_size=300) | st.from_regex(r"NVRM: Xid \(PCI:[0-9a-f:.]{0,25}\): \d{0,8},? ?.{0,60}"))
def test_whatever_a_line_holds_reading_it_breaks_nothing(line: str) -> None:
    for text in (line, record(line).text):
        found = gpu_message(text)
        assert found is None or isinstance(found, GpuMessage)
    assert isinstance(record("6,1,2,-;" + line), Record)


@settings(deadline=None)
@given(st.binary(max_size=5000))
def test_whatever_bytes_a_record_holds_reading_it_breaks_nothing(data: bytes) -> None:
    found = record(data.decode("utf-8", "replace"))
    assert len(found.text) <= 4096

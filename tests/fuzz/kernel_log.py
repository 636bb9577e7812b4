"""Coverage-guided fuzzing of the reader of the kernel's log: whatever it holds, nothing breaks and nothing is slow.

pip install atheris; PYTHONPATH=agent python tests/fuzz/kernel_log.py -max_total_time=60 -timeout=5
"""

import sys

import atheris

with atheris.instrument_imports():
    from hedgerow.wire_agent import GpuEvent
    from hedgerow_agent.kernel_log.events import MAX_EVENTS, Events
    from hedgerow_agent.kernel_log.line import gpu_message, oom_kill, record

STARTS = ("", "6,1,2,-;", "[   1.5] ", "[Sun Feb 23 16:24:18 2025] ", "Feb 23 16:24:18 node kernel: ")
TEXTS = ("", "NVRM: Xid (PCI:", "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to ",
         "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): ", "Out of memory: Killed process ")  # fmt: skip
EVENTS = Events()


def one(data: bytes) -> None:
    """Lines out of the bytes, through all that reads them."""
    provider = atheris.FuzzedDataProvider(data)
    now = 100.0
    while provider.remaining_bytes():
        start, text = provider.PickValueInList(list(STARTS)), provider.PickValueInList(list(TEXTS))
        rest = provider.ConsumeBytes(provider.ConsumeIntInRange(0, 200)).decode("utf-8", "replace")
        found = record(start + text + rest)
        oom_kill(found.text)
        message = gpu_message(found.text)
        if message is not None:
            now += 1.0
            EVENTS.add(message, now)
    standing = EVENTS.standing(now, {"0000:9b:00.0": 0})
    assert len(standing) <= MAX_EVENTS
    assert all(isinstance(event, GpuEvent) for event in standing)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()

"""What a rank's last words tell: the script's own fault, the storage, the device, or another rank that went first."""

import json
from pathlib import Path

import pytest

from hedgerow import wire
from hedgerow_operator.core.faults import FaultKind, first_exit, read_fault, same_on_all
from tests.unit.core.builders import exited, make_gang, make_rank

APPLICATION, STORAGE, DEVICE = FaultKind.APPLICATION, FaultKind.STORAGE, FaultKind.DEVICE
CONSEQUENCE, NONE = FaultKind.CONSEQUENCE, FaultKind.NONE

LAST_LINES = {
    "ValueError: label 11 is out of range": APPLICATION,
    "my.package.ConfigError: no such key": APPLICATION,
    "AssertionError": APPLICATION,
    "Exception: gave up": APPLICATION,
    "subprocess.TimeoutExpired: Command 'x' timed out after 5 seconds": APPLICATION,
    "[rank1]: ValueError: label 11 is out of range": APPLICATION,
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB": APPLICATION,
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB": APPLICATION,
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB": APPLICATION,
    "MemoryError": APPLICATION,
    "torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:1333": CONSEQUENCE,
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:1333": CONSEQUENCE,
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:4411":
        CONSEQUENCE,
    "RuntimeError: Connection reset by peer": CONSEQUENCE,
    "ConnectionResetError: [Errno 104] Connection reset by peer": CONSEQUENCE,
    "BrokenPipeError: [Errno 32] Broken pipe": CONSEQUENCE,
    "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms": CONSEQUENCE,
    "TimeoutError: The client socket has timed out after 60s while trying to connect to (10.0.0.1, 29500)": CONSEQUENCE,
    "OSError: [Errno 116] Stale file handle: '/data/shard-7'": STORAGE,
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-7'": STORAGE,
    "OSError: [Errno 5] Input/output error": STORAGE,
    "OSError: [Errno 28] No space left on device": STORAGE,
    "RuntimeError: CUDA error: uncorrectable ECC error encountered": DEVICE,
    "KeyboardInterrupt": NONE,
    "Error: step 7": NONE,
    "step 37 loss 0.4": NONE,
    "train.py:12: UserWarning: slow": NONE,
    "ValueError is what you get when labels are out of range": NONE,
}


@pytest.mark.parametrize("line", LAST_LINES)
def test_kind_of_the_last_line(line: str) -> None:
    assert read_fault(["step 36", "Traceback (most recent call last):", line]).kind is LAST_LINES[line]


def test_the_exception_is_found_above_what_follows_it() -> None:
    tail = ["Traceback (most recent call last):", "RuntimeError: CUDA error: device-side assert triggered",
            "CUDA kernel errors might be asynchronously reported at some other API call.", ""]
    assert read_fault(tail).text == "RuntimeError: CUDA error: device-side assert triggered"


def test_no_words_are_no_fault() -> None:
    assert read_fault([]).kind is NONE


def test_the_same_fault_reads_the_same_whatever_address_and_rank_it_names() -> None:
    texts = {read_fault([f"ValueError: rank {rank} got <Tensor at 0x7f{rank}a>"]).text for rank in range(4)}
    assert len(texts) == 1


def test_a_long_message_is_cut() -> None:
    assert len(read_fault(["ValueError: " + "x" * 5000]).text) == 200


@pytest.mark.shared_data
def test_of_real_nccl_messages_only_the_mismatch_of_collectives_is_the_scripts_own_fault(shared_data: Path) -> None:
    cases = json.loads((shared_data / "cases" / "nccl_messages.json").read_text())
    own = {line for case in cases for line in case["lines"] if read_fault([line]).kind is APPLICATION}
    assert len(cases) > 10
    assert all("Detected mismatch between collectives" in line for line in own)


GLOO = "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:4411"

FIRST = {
    "the one that ended longest ago": ([exited(0, ago=5.0), exited(1, ago=9.0), exited(2, ago=7.0)], 1),
    "not the one that tells of a closed connection, when they ended together": (
        [exited(0, ago=5.2, output_tail=[GLOO]), exited(1, ago=5.0), make_rank(2)], 1),
    "the one with an exception of its own, when they ended together": (
        [exited(0, ago=5.2, output_tail=[GLOO]), exited(1, ago=4.8, output_tail=["ValueError: x"])], 1),
    "the first, when all tell of closed connections": (
        [exited(0, ago=5.0, output_tail=[GLOO]), exited(1, ago=5.5, output_tail=[GLOO])], 1),
    "one with a fault of its own that took longer to end than its victims": (
        [exited(0, ago=30.0, output_tail=[GLOO]), exited(1, ago=5.0, output_tail=["ValueError: x"])], 1),
    "one that was killed a little later than its victims ended": (
        [exited(0, ago=30.0, output_tail=[GLOO]), exited(1, None, ago=5.0, exit_signal=9)], 1),
    "not one that a watchdog ended later": (
        [exited(0, ago=30.0, output_tail=[GLOO]), exited(1, None, ago=5.0, exit_signal=6)], 0),
    "not a cause that came much later": (
        [exited(0, ago=60.0, output_tail=[GLOO]), exited(1, ago=5.0, output_tail=["ValueError: x"])], 0),
    "not one that was told to end, when they ended together": (
        [exited(0, None, ago=5.2, exit_signal=15), exited(1, ago=5.0, output_tail=["ValueError: x"])], 1),
    "one that was told to end, when nobody else failed": (
        [exited(0, None, ago=5.2, exit_signal=15), exited(1, ago=5.0, output_tail=[GLOO])], 0),
    "not one that ended well": ([exited(0, 0, ago=60.0), exited(1, ago=5.0)], 1),
    "nobody": ([exited(0, 0), make_rank(1)], None),
}


@pytest.mark.parametrize("case", FIRST)
def test_the_first_to_exit_is(case: str) -> None:
    ranks, guilty = FIRST[case]
    first = first_exit(make_gang(*ranks).ranks, 1.0)
    assert (first.rank if first else None) == guilty


SAME = {
    "the same exception everywhere is the script's fault": ([exited(0), exited(1)], 2, "ValueError: x"),
    "not while a rank lives": ([exited(0), make_rank(1)], 2, None),
    "not while a rank is not heard": ([exited(0), exited(1)], 4, None),
    "not of a single rank": ([exited(0)], 1, None),
    "not when a signal ended one of them": ([exited(0), exited(1, None, exit_signal=9)], 2, None),
}


@pytest.mark.parametrize("case", SAME)
def test_same_on_all(case: str) -> None:
    ranks, expected, fault = SAME[case]
    told = [wire.RankReport(**{**rank.__dict__, "output_tail": ["ValueError: x"]}) for rank in ranks]
    assert same_on_all(make_gang(*told).ranks, expected) == fault


def test_a_broken_connection_everywhere_is_nobodys_own_fault() -> None:
    assert same_on_all(make_gang(exited(0, output_tail=[GLOO]), exited(1, output_tail=[GLOO])).ranks, 2) is None

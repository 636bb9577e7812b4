"""What kind of fault ended a rank, from its last lines."""

import pytest

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.exit_class import class_of_exit
from tests.unit.core.builders import exited

TAILS = {
    "an exception of the script": ("ValueError: label 11 is out of range", FaultClass.APPLICATION),
    "no memory left on the device": ("torch.cuda.OutOfMemoryError: CUDA out of memory.", FaultClass.APPLICATION),
    "no space left": ("OSError: [Errno 28] No space left on device", FaultClass.STORAGE),
    "a stale file handle": ("OSError: [Errno 116] Stale file handle: '/data/7.bin'", FaultClass.STORAGE),
    "a broken device": ("RuntimeError: CUDA error: uncorrectable ECC error encountered", FaultClass.HARDWARE),
    "nothing": ("", FaultClass.UNKNOWN),
}


@pytest.mark.parametrize("case", TAILS)
def test_the_class_of(case: str) -> None:
    line, want = TAILS[case]
    assert class_of_exit(exited(0, output_tail=["Traceback (most recent call last):", line])) is want


def test_a_connection_that_another_has_closed_is_no_cause() -> None:
    tail = ["RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer"]
    assert class_of_exit(exited(0, output_tail=tail)) is FaultClass.UNKNOWN

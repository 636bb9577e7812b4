"""Whatever is thrown at a reader: it never raises, and never loses a good line that follows."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.logs.reader import NAMES, AutoReader

GOOD = b'{"step": 123456789, "loss": 2.0}\n'
FRAGMENTS = [
    b":::MLLOG", b'{"time_ms": ', b'"key": "train_loss"', b'"key": "run_stop", "metadata": [', b"iteration 1/2 |",
    b"lm loss: ", b"nan", b"1e999", b"{'loss': ", b"s/it", b" 1%|#| 1/2 [00:00<00:01, 1.0s/it", b"[#step] [END] ", b"{",
    b"}", b"[", b"\r", b"\n", b"\x1b[31m", b"step: 1 loss: x", b"DLL 2025-1 - Iteration 5 |", b"rror", b"9" * 400,
    b"slurmstepd: error: *** JOB 7 ON n CANCELLED AT x", b"[rank", b"99999999999:", b"2024-13-45 99:99:99", b'"step": ',
    b'{"step": -1e308, "time": 1e308}', b"Training epoch 1, iteration 2/3 |", b"\xff\x00\xc3",
]
garbage = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=20)), max_size=40).map(b"".join)


@given(garbage, st.integers(1, 50))
@settings(max_examples=300, deadline=None)
def test_garbage_never_raises_and_never_hides_the_next_line(noise: bytes, piece: int) -> None:
    reader = AutoReader()
    data = noise + b"\n" + GOOD
    said = [entry for at in range(0, len(data), piece) for entry in reader.feed(data[at: at + piece])]
    assert said[-1].step == 123456789


@given(garbage, st.sampled_from(NAMES))
@settings(max_examples=200, deadline=None)
def test_garbage_never_raises_in_any_one_format(noise: bytes, name: str) -> None:
    reader = AutoReader(name)
    reader.feed(noise)
    reader.finish()


@pytest.mark.shared_data
def test_real_logs_may_be_cut_anywhere(shared_data: Path) -> None:
    for path in sorted((shared_data / "training_logs").iterdir()):
        whole = path.read_bytes()[: 1 << 18]
        for cut in range(0, len(whole), max(1, len(whole) // 8)):
            reader = AutoReader()
            reader.feed(whole[cut // 3: cut])
            assert reader.feed(b"\n" + GOOD)[-1].step == 123456789, f"{path.name} cut at {cut}"

"""Output as it comes: in pieces, with carriage returns, garbage, several ranks and formats, and clocks of all kinds."""

import pytest

from hedgerow.logs.blocks import LONGEST_LINE
from hedgerow.logs.observation import Observation
from hedgerow.logs.reader import AutoReader

LOG = (
    b"starting\r\n"
    b'0: :::MLLOG {"time_ms": 1000000000000, "key": "run_start", "metadata": {}}\n'
    b"\xff\xfe\x00 binary \x80 garbage\n"
    b" 0%|          | 0/10 [00:00<?, ?it/s]\r 10%|\xe2\x96\x88         | 1/10 [00:02<00:18,  2.0s/it]\r"
    b"1: iteration 5/ 100 | lm loss: 2.0 |\n"
    b'{"step": 6, "loss": 1.5}\n'
    b"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2001-09-09T01:50:00 DUE TO TIME LIMIT ***\n"
    b'{"step": 7, "loss": 1.4}'
)


def fed(data: bytes, piece: int) -> list[Observation]:
    """What a new reader says when it is fed so many bytes at a time."""
    reader = AutoReader()
    said = [entry for at in range(0, len(data), piece) for entry in reader.feed(data[at: at + piece])]
    return said + reader.finish()


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1000])
def test_pieces_of_any_size_say_the_same(piece: int) -> None:
    assert fed(LOG, piece) == fed(LOG, len(LOG))


def test_formats_mix_in_one_stream() -> None:
    assert [entry.source for entry in fed(LOG, 100)] == [
        "mlperf", "huggingface", "huggingface", "megatron", "json", "endings", "json"]


def test_the_format_with_most_progress_names_the_log() -> None:
    reader = AutoReader()
    reader.feed(b'iter 1: loss 2.0, time 1ms\n{"step": 2}\n{"step": 3}\n')
    assert (reader.format, dict(reader.counts)) == ("json", {"nanogpt": 1, "json": 2})


def test_two_ranks_that_write_into_one_line_are_both_read() -> None:
    line = b':::MLLOG {"time_ms": 5, "key": "train_loss", "value": 2.0, "metadata": {"samples_count": %d}}'
    assert [entry.step for entry in fed(line % 1 + b":::MLLOG {\"ti" + line % 2 + b"\n", 50)] == [1, 2]


def test_a_line_without_end_is_dropped_and_the_next_one_read() -> None:
    assert [entry.step for entry in fed(b"x" * 5 * LONGEST_LINE + b'\n{"step": 3}\n', 1000)] == [3]


def test_memory_stays_bounded_in_a_line_without_end() -> None:
    reader = AutoReader()
    for _ in range(64):
        reader.feed(b"x" * LONGEST_LINE)
    assert len(reader._blocks._rest) <= LONGEST_LINE


def test_another_format_is_found_long_after_the_first_one() -> None:
    reader = AutoReader()
    filler = b"nothing of interest in this line, whatever it may be about\n" * 20_000
    reader.feed(b'{"step": 1}\n')
    for _ in range(12):
        reader.feed(filler)
    said = [entry for _ in range(40) for entry in reader.feed(b"iteration 5/ 100 | lm loss: 2.0 |\n" + filler)]
    assert any(entry.source == "megatron" for entry in said)


def times(*lines: str) -> list[float | None]:
    """The time of each observation, rounded."""
    said = fed("\n".join(lines).encode() + b"\n", 4096)
    return [None if entry.time is None else round(entry.time, 3) for entry in said]


CLOCKS: dict[str, tuple[tuple[str, ...], list[float | None]]] = {
    "the time of a line counts": (("[2024-01-01 00:00:01] iteration 1/9 | lm loss: 1.0 |",), [1704067201.0]),
    "a line without a time has none where others have": (
        ("[2024-01-01 00:00:01] iteration 1/9 | lm loss: 1.0 |", "iteration 2/9 | lm loss: 1.0 |"),
        [1704067201.0, None]),
    "a zone is a shift": (('{"step": 1, "time": "2024-01-01T01:00:00+01:00"}',), [1704067200.0]),
    "milliseconds are seen by their size": (('{"step": 1, "timestamp": 1704067200500}',), [1704067200.5]),
    "times without a zone are shifted to those with one": (
        ('{"step": 1, "time": 1704067200}', "[2024-01-01 05:30:02] iteration 1/9 | lm loss: 1.0 |"),
        [1704067200.0, 1704067202.0]),
    "claims of step times are a clock where there is no other": (
        ("iteration 1/9 | elapsed time per iteration (s): 2 |", "iteration 2/9 | elapsed time per iteration (s): 3 |"),
        [2.0, 5.0]),
    "a gap in the numbers of the steps is no time": (
        ("iteration 1/99 | elapsed time per iteration (s): 2 |", "iteration 2/99 | elapsed time per iteration (s): 2 |",
         "iteration 50/99 | elapsed time per iteration (s): 2 |"), [2.0, 4.0, 6.0]),
    "a claim never outweighs the time of the lines": (
        ("[2024-01-01 00:00:01] iteration 1/9 | elapsed time per iteration (s): 0.2 |",
         "[2024-01-01 00:10:01] iteration 2/9 | elapsed time per iteration (s): 0.2 |"), [1704067201.0, 1704067801.0]),
    "a bar's time goes on over its next round": (
        ("Epoch 0:  50%|█ | 1/2 [00:10<00:10, 10.0s/it]", "Epoch 0: 100%|██ | 2/2 [00:20<00:00, 10.0s/it]",
         "Epoch 1:  50%|█ | 1/2 [00:10<00:10, 10.0s/it]"), [10.0, 20.0, 30.0]),
}


@pytest.mark.parametrize("case", CLOCKS)
def test_clock(case: str) -> None:
    lines, expected = CLOCKS[case]
    assert times(*lines) == expected

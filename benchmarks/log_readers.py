"""How fast training output is read: while its format is being found, and what does not match once it is known.

The aims: 30 MB/s and 200 MB/s. Both streams are what trainers print around their step lines. A step line costs more, as
it is taken apart; how many of them a second is printed too.
"""

import argparse
import json
import time
from collections.abc import Callable

from hedgerow.logs.reader import AutoReader

FILLER = b"".join(
    b"0: [NeMo I 2025-10-08 00:30:%02d nemo_logging:393] Adding lora to: module.decoder.layers.%d.self_attention "
    b"linear_qkv.adapter.linear_in.weight torch.Size([1024, 4096]) dtype=torch.bfloat16 requires_grad=True\n"
    % (number % 60, number) for number in range(6_000)
)
STEP = b'0: :::MLLOG {"time_ms": %d, "key": "train_loss", "value": 2.16, "metadata": {"samples_count": %d}}\n'
CHUNK = 1 << 20


def speed(data: bytes, seconds: float, make: Callable[[], AutoReader]) -> float:
    """MB a second at which a reader takes ``data``: the best of many rounds, as other load only ever adds to one."""
    reader = make()
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        for at in range(0, len(data), CHUNK):
            reader.feed(data[at: at + CHUNK])
        best = max(best, len(data) / (time.perf_counter() - began) / 1e6)
    return best


def knowing() -> AutoReader:
    """A reader that has found its format and has seen enough to look for others only now and then."""
    reader = AutoReader()
    reader.feed(STEP % (1, 1))
    while reader._since_new < (1 << 20):
        reader.feed(FILLER)
    return reader


def main() -> None:
    """Print the speeds, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a second for each figure")
    seconds = 1.0 if parser.parse_args().quick else 5.0
    steps = b"".join(STEP % (number * 1000, number) for number in range(20_000))
    finding = speed(FILLER, seconds, AutoReader)
    known = speed(FILLER, seconds, knowing)
    dense = speed(steps, seconds, AutoReader)
    lines = dense * 1e6 / (len(steps) / 20_000)
    print(f"while the format is being found: {finding:.0f} MB/s (aim 30)")
    print(f"lines that do not match, once it is known: {known:.0f} MB/s (aim 200)")
    print(f"nothing but step lines: {dense:.1f} MB/s, {lines:.0f} lines a second")
    figures = {"finding_mb_per_second": finding, "known_mb_per_second": known, "step_lines_per_second": lines}
    print(json.dumps({"name": "log_readers", "figures": figures}))


if __name__ == "__main__":
    main()

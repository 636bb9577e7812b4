"""`hedgerow demo` tells a story that a newcomer understands."""

import re
import subprocess
import sys
import time
from pathlib import Path

STORY = [
    "at step 37 rank 2 takes a lock that it already holds",
    "No process ends and no error is logged",
    "attempt 1: all 4 ranks run",
    "step 30: loss",
    "fault: rank 2 hangs at step 37",
    "STALLED (NoProgress). Guilty: rank 2. Evidence:",
    "never reached step 37",
    "resume from checkpoints/step-000020.safetensors (step 20); passed over checkpoints/step-000030.safetensors",
    "attempt 2: all 4 ranks run again",
    "attempt 2: 4 ranks, from step 20",
    "step 60: loss",
    "FINISHED: all ranks 0 to 3 finished with exit code 0, at step 60",
    "restarts 1",
    "steps computed twice 16",
    "from the hang to the verdict",
    "time that went into new steps (goodput)",
    "Without Hedgerow",
    "A slow answer is overtaken by another provider's.",
    "p50 p95 slowest over 60 s attempts",
    "without hedging",
    "hedged (Adaptive)",
]


def test_the_demo_tells_everything_in_order_within_two_minutes(tmp_path: Path) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "hedgerow_operator.cli", "demo", "--state-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - began < 120  # half a minute where nothing else runs
    at, text = 0, " ".join(done.stdout.split())
    for part in STORY:
        words = " ".join(part.split())
        assert words in text[at:], f"{part!r} is missing or out of order in:\n{done.stdout}"
        at = text.index(words, at)
    assert "not measured" not in text
    # How many, depends on how busy the machine is: their times are a hundredth of the real ones.
    alone, hedged = (int(count) for count in re.findall(r"(\d+) of 54", text))
    assert alone >= 15
    assert hedged < alone / 2

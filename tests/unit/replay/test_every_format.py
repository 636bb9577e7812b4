"""The same job in the words of every trainer: a stall is found by the log's own clock, whatever the lines claim."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay

START = 1_700_000_000
STEP_SECONDS, PAUSE_SECONDS = 2, 90
BEFORE, AFTER = 100, 30


def clock(at: int) -> str:
    return datetime.fromtimestamp(START + at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def bar(at: int, step: int, title: str, more: str = "") -> str:
    return f"{title} {step}%|██   | {step}/200 [{at // 60:02d}:{at % 60:02d}<05:00,  2.00s/it{more}]\r"


FORMATS: dict[str, Callable[[int, int], str]] = {
    "megatron": lambda at, step: (
        f" [{clock(at)}] iteration {step:8d}/ 1000 | elapsed time per iteration (ms): 220.0 | lm loss: 2.0E+00 |\n"),
    "deepspeed": lambda at, step: (
        f"[{clock(at)},123] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[1e-05], mom=[0.9]\n"
        f"[{clock(at)},125] [INFO] [timer.py:197:stop] epoch=0/micro_step={step}/global_step={step}, "
        "RunningAvgSamplesPerSec=30.1, CurrSamplesPerSec=31.5, MemAllocated=1.2GB\n"),
    "huggingface": lambda at, step: bar(at, step, ""),
    "lightning": lambda at, step: bar(at, step, "Epoch 0:", ", v_num=0, train_loss=0.345"),
    "nemo": lambda at, step: (
        f"[NeMo I {clock(at)} log:393] Training epoch 0, iteration {step}/999 | lr: 1e-05 | global_step: {step} | "
        "train_step_timing in s: 0.22\n"),
    "torchtitan": lambda at, step: "".join(
        f"[rank{rank}]:[titan] {clock(at)},{rank}00 - root - INFO - step: {step}  loss:  4.2  tps: 5,000\n"
        for rank in range(4)),
    "nanogpt": lambda at, step: f"{clock(at)} iter {step}: loss 3.1234, time 220.00ms, mfu 35.20%\n",
    "mlperf": lambda at, step: ":::MLLOG " + json.dumps({
        "time_ms": 1000 * (START + at), "key": "train_loss", "value": 2.0, "metadata": {"samples_count": step}}) + "\n",
    "dlrover": lambda at, step: (
        f'[{clock(at).replace(" ", "T")}.000001] [4] [a] [Trainer] [#step] [END] {{"global_step": {step}}}\n'),
    "dllogger": lambda at, step: f"0: DLL {clock(at)}.45 - Iteration {step} | iteration_time : 220.00 ms\n",
    "json": lambda at, step: json.dumps({"step": step, "ts": START + at, "step_time": 0.22}) + "\n",
}


def written(line: Callable[[int, int], str]) -> bytes:
    """The log of a job that pauses once."""
    lines, at = [], 0
    for step in range(1, BEFORE + AFTER + 1):
        at += STEP_SECONDS + (PAUSE_SECONDS if step == BEFORE + 1 else 0)
        lines.append(line(at, step))
    return "".join(lines).encode()


@pytest.mark.parametrize("name", FORMATS)
def test_a_pause_is_one_alert_in(name: str) -> None:
    session = TrainingReplay()
    session.feed(b"some words before\n" + written(FORMATS[name]))
    found = as_object(session.finish())
    (incident,) = found["incidents"]
    assert (found["format"], incident["kind"], incident["action"]) == (name, "Stall", "Alert")
    assert incident["closedAtMillis"] - incident["lastProgressMillis"] == pytest.approx(92_000, abs=500)
    assert incident["openedAtMillis"] - incident["lastProgressMillis"] <= 10_100


@pytest.mark.parametrize("name", FORMATS)
def test_a_job_that_stops_for_good_is_restarted_in(name: str) -> None:
    session = TrainingReplay(name)
    session.feed(written(FORMATS[name])[:-1])
    incident = as_object(session.finish(gap_seconds=1800.0))["incidents"][-1]
    assert (incident["kind"], incident["action"], incident["closedAtMillis"]) == ("Stall", "Restart", None)


def test_a_users_pattern_is_a_format_too() -> None:
    session = TrainingReplay(pattern=r"at (?P<time>\d+) did (?P<step>\d+)")
    session.feed(written(lambda at, step: f"at {START + at} did {step}\n"))
    story = session.finish()
    assert (story.format, story.steps, len(story.incidents)) == ("pattern", BEFORE + AFTER, 1)

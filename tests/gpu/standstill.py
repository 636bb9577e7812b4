"""A torch job over NCCL in which one rank really hangs: the others are 100 % busy, and yet are seen to wait."""

import os
import socket
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import agent_process

SCRIPT = Path(__file__).with_name("standstill_rank.py")
WORK_SECONDS, SETTLE_SECONDS, LOOKS = 30.0, 10.0, 6
HANGS = 1
# Of work: what a wait leaves of it at most, for values that are told.
TELLING = {"power_watts": 0.8, "tensor_activity_percent": 0.2, "sm_activity_percent": 0.9}
BYTES = ("nvlink_transmitted_bytes", "nvlink_received_bytes")


def part(python: str, gpus: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Values while it works and while it waits; AssertionError says that nothing tells them apart."""
    if len(gpus) < 2:
        raise agent_process.NotPossible(f"it takes two GPUs, here is {len(gpus)}")
    ranks = _start(python, len(gpus))
    try:
        _wait_for(ranks[0], "works")
        time.sleep(SETTLE_SECONDS)
        working = _means(gpus)
        _wait_for(ranks[HANGS], "hangs")
        time.sleep(SETTLE_SECONDS)
        waiting = _means(gpus)
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    return _judged(working, waiting)


def _judged(working: list[dict[str, float]], waiting: list[dict[str, float]]) -> tuple[list[str], dict[str, Any]]:
    lines, told = [], set()
    victims = [index for index in range(len(working)) if index != HANGS]
    for name in sorted(set().union(*waiting)):
        pairs = [(working[index].get(name), waiting[index].get(name)) for index in victims]
        pairs = [(before, after) for before, after in pairs if before is not None and after is not None]
        if not pairs:
            continue
        before, after = (statistics.mean(column) for column in zip(*pairs, strict=True))
        lines.append(f"{name}: {before:g} at work, {after:g} waiting")
        limit = 0.2 if name in BYTES else TELLING.get(name)
        if limit is not None and before > 0 and after < limit * before:
            told.add(name)
    busy = statistics.mean(waiting[index].get("utilisation_percent", 0.0) for index in victims)
    assert busy > 90, f"those that wait are only {busy:.0f} % busy: NCCL was expected to busy-wait"
    assert told, "no value tells waiting from work: " + "; ".join(lines)
    return [*lines, f"told apart by: {', '.join(sorted(told))}"], {"toldApartBy": sorted(told), "busyPercent": busy}


def _means(gpus: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Means over some looks of what may tell them apart; counters as bytes a second."""
    looks = [(time.monotonic(), agent_process.once()["gpus"]) for _ in range(LOOKS)]
    found = []
    for index in range(len(gpus)):
        values = [look[index].get("values", {}) for _, look in looks]
        means = {name: statistics.mean(one[name] for one in values)
                 for name in ("utilisation_percent", *TELLING) if all(name in one for one in values)}  # fmt: skip
        seconds = looks[-1][0] - looks[0][0]
        means |= {name: (values[-1][name] - values[0][name]) / seconds for name in BYTES if name in values[0]}
        found.append(means)
    return found


def _start(python: str, count: int) -> "list[subprocess.Popen[str]]":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(count)}
    return [
        subprocess.Popen(
            [python, str(SCRIPT), str(HANGS), str(WORK_SECONDS)],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(count)
    ]  # fmt: skip


def _wait_for(rank: "subprocess.Popen[str]", word: str) -> None:
    assert rank.stdout is not None
    for line in rank.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"a rank ended before it said {word!r}")

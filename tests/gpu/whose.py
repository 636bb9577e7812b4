"""A rank on each GPU is found by the agent, with its job, its number and the GPU that it computes on."""

import os
import subprocess
import time
from typing import Any

import agent_process

RANK = """
import sys, torch
held = torch.ones(1 << 26, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
sys.stdin.read()
"""
SECONDS = 30


def part(python: str, gpus: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """One process a GPU; AssertionError says whom the agent did not find."""
    ranks = [_start(python, gpu, number) for number, gpu in enumerate(gpus)]
    try:
        for rank in ranks:
            assert rank.stdout is not None
            assert rank.stdout.readline() == "ready\n", f"a rank could not begin: {_words(rank)}"
        found = _look(ranks, gpus)
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    return [f"rank {number} is PID {pid} on GPU {index}" for number, pid, index in found], {"ranks": len(found)}


def _look(ranks: "list[subprocess.Popen[str]]", gpus: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    expected = {(number, rank.pid, gpu["index"]) for number, (rank, gpu) in enumerate(zip(ranks, gpus, strict=True))}
    deadline = time.monotonic() + SECONDS
    while True:
        report = agent_process.once()
        found = {
            (one.get("rank"), one["pid"], gpu["index"])
            for gpu in report["gpus"]
            for one in gpu.get("processes") or []
            if one.get("job") == "gpu-test"
        }
        if found == expected:
            return sorted(found)
        assert time.monotonic() < deadline, f"found {sorted(found, key=str)}, expected {sorted(expected)}"


def _start(python: str, gpu: dict[str, Any], number: int) -> "subprocess.Popen[str]":
    words = {"CUDA_VISIBLE_DEVICES": gpu["uuid"], "RANK": str(number), "HEDGEROW_JOB_UID": "gpu-test"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [python, "-c", RANK], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **words}
    )


def _words(rank: "subprocess.Popen[str]") -> str:
    rank.kill()
    return rank.communicate()[1].strip().splitlines()[-1:][0]

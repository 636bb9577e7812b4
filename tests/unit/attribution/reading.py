"""Explains the text of a log, as the command does."""

from hedgerow_operator.core.attribution.log.explanation import Explanation, explain
from hedgerow_operator.core.attribution.log.reader import LogReader


def explained(text: str, ranks: int | None = None) -> Explanation:
    """The explanation of a log's text."""
    reader = LogReader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(line, number)
    events, omitted = reader.finish()
    return explain(events, ranks, omitted)


def watchdog(rank: int, seq: int, op: str = "ALLREDUCE") -> str:
    """A timeout as PyTorch 2.4 reports it."""
    return (
        f"[rank{rank}]:[E1016 03:31:38.928019586 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective "
        f"operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for "
        "600071 milliseconds before timing out.\n"
    )


def traceback(exception: str, prefix: str = "") -> str:
    """An uncaught exception."""
    lines = ("Traceback (most recent call last):", '  File "train.py", line 7, in <module>', "    step()", exception)
    return "".join(f"{prefix}{line}\n" for line in lines)


def elastic(rank: int, code: int) -> str:
    """torchrun's summary when a rank ended first."""
    return f"""
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-03-01_10:00:00
  host      : node7
  rank      : {rank} (local_rank: {rank % 8})
  exitcode  : {code} (pid: 4711)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 4711
============================================================
"""

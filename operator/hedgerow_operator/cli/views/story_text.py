"""The words of the demo. Pure."""

import textwrap
from pathlib import Path

from hedgerow_operator.api.status import Incident
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.story_times import Times

_WIDTH = 110
_BULLET = "  - "

INTRODUCTION = (
    "A training job hangs, and comes back by itself.\n"
    "Four processes (ranks) train one small network on this machine. After each step they sum up what they learned, so "
    "none goes on without the others. Every 10 steps they save a checkpoint. Two things go wrong, as they do in real "
    "jobs:\n"
    "  - at step 37 rank 2 takes a lock that it already holds and never returns; the other three wait for it\n"
    "  - the newest checkpoint, of step 30, is left half written\n"
    "No process ends and no error is logged: without help it would stay like this for hours. Nobody touches it from "
    "here on. Indented lines are what the ranks print, the others are Hedgerow's."
)

# torch.distributed.init_process_group, PyTorch's documentation: the default timeout of a collective.
_NCCL_MINUTES, _GLOO_MINUTES = 10, 30


def paragraph(text: str, first: str = "", rest: str = "") -> str:
    """The text in lines of at most about 110 columns; line breaks that are in it stay."""
    indents = [first] + [rest] * text.count("\n")
    lines = zip(indents, text.splitlines(), strict=False)
    return "\n".join(_wrapped(indent, rest, line) for indent, line in lines)


def _wrapped(first: str, rest: str, line: str) -> str:
    hang = "    " if line.startswith(_BULLET) else ""
    return textwrap.fill(line, _WIDTH, initial_indent=first, subsequent_indent=rest + hang)


def verdict(incident: Incident) -> str:
    """The verdict with its evidence and what follows from it."""
    guilty = " and ".join(f"rank {rank}" for rank in incident.ranks) or "no single rank"
    evidence = [_BULLET + sentence for sentence in incident.evidence]
    return "\n".join(
        [f"STALLED ({incident.reason}). Guilty: {guilty}. Evidence:", *evidence, f"What follows: {incident.action}"]
    )


def summary(job: TrainingJob, times: Times, stored: Path, example: Path) -> str:
    """What it cost, and what it would have cost."""
    status = job.status
    goodput = "not measured" if status.goodput_percent is None else f"{status.goodput_percent} %"
    rows = [
        ("restarts", str(status.restarts)),
        ("steps computed twice", f"{status.lost_steps}, those after the checkpoint"),
        ("from the hang to the verdict", _seconds(times.to_verdict)),
        (f"from the verdict to all {job.spec.ranks} ranks running", _seconds(times.to_running)),
        ("time that went into new steps (goodput)", goodput),
    ]
    width = max(len(name) for name, _ in rows)
    table = "\n".join(f"  {name.ljust(width)}  {value}" for name, value in rows)
    return f"{table}\n\n{paragraph(_without(job))}\n\n{paragraph(_next(stored, example))}\n"


def _without(job: TrainingJob) -> str:
    idle = job.spec.ranks * _NCCL_MINUTES
    return (
        f"Without Hedgerow a PyTorch job stands still until a collective times out, by default after {_NCCL_MINUTES} "
        f"minutes with NCCL and {_GLOO_MINUTES} with other backends (torch.distributed.init_process_group, PyTorch "
        f"documentation): at least {idle} minutes of processors here. Then it dies, names no rank, and somebody has to "
        "start it again, from a checkpoint that is torn."
    )


def _next(stored: Path, example: Path) -> str:
    return (
        f"To look at: the script and the manifest in {example}, the whole job object in {stored}.\n"
        f"To try it on a job of your own, write a manifest like {example / 'trainingjob.yaml'} and run "
        "`hedgerow local -f FILE`."
    )


def _seconds(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1f} s"

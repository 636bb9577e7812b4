"""The scripts of one kind, side by side on one cluster: most of the time they wait."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.slurm.sbatch_parts.scripts import ENDING, HANGING, LOST, OPTIONS, REFUSES
from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

_ON_LOST = ("node lost", "batch host lost")
# When, and what is done then.
_DONE: dict[str, tuple[Callable[[Case], object], Callable[[Case], object]]] = {
    "cancelled": (Case.until_saved, lambda case: case.slurm.run(f"scancel {case.job_id}")),
    "requeued": (Case.until_saved, lambda case: case.slurm.run(f"scontrol requeue {case.job_id}")),
    "supervisor killed": (Case.until_stepped, Case.kill_supervisor),
    "killed before a step": (Case.until_begun, Case.kill_supervisor),
    "given up": (Case.until_stepped, Case.kill_supervisor),
}


def played_hanging(slurm: Testbed) -> dict[str, Case]:
    """Those with a rank that hangs, when all have ended."""
    return _ended(slurm, {name: submitted(slurm, name, text) for name, text in HANGING.items()})


def played_ending(slurm: Testbed) -> dict[str, Case]:
    """Those whose batch job ends before them, when all have ended."""
    found = {name: submitted(slurm, name, ENDING[name]) for name in _ON_LOST}
    for name in _ON_LOST:
        found[name].until_saved()
    slurm.kill_node(LOST)
    with ThreadPoolExecutor(len(_DONE)) as pool:
        under_way = []
        for name in [*_DONE, *(ENDING.keys() - {*_ON_LOST, *_DONE})]:
            found[name] = submitted(slurm, name, ENDING[name])
            if name in _DONE:  # none waits for another
                under_way.append(pool.submit(_when, found[name], *_DONE[name]))
        _block_address(slurm, found["no address"])
        for done in under_way:
            done.result()
    return _ended(slurm, found)


def _when(case: Case, holds: Callable[[Case], object], what: Callable[[Case], object]) -> None:
    holds(case)
    what(case)


def _ended(slurm: Testbed, cases: dict[str, Case]) -> dict[str, Case]:
    for case in cases.values():
        case.wait()
        case.keep_state()
    slurm.heal()
    return cases


def submitted(slurm: Testbed, name: str, script: str, *options: str) -> Case:
    """One of them, on its way."""
    case = Case(slurm, f"sbatch-{name.replace(' ', '-')}", script)
    if name == "refused":
        folder = case.folder / "bin"
        folder.mkdir()
        (folder / "sbatch").write_text(REFUSES)
        (folder / "sbatch").chmod(0o755)
        case.environment["PATH"] = f"{folder}:{slurm.environment['PATH']}"
    case.submit(*OPTIONS.get(name, []), *options)
    return case


def _block_address(slurm: Testbed, case: Case) -> None:
    """Its supervisor cannot write where it listens."""
    (folder,) = case.state.glob("*-*")
    (folder / "address").mkdir()
    slurm.run(["scontrol", "release", case.job_id])

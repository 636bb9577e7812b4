"""All scripts, side by side on one cluster: most of the time they wait."""

from tests.slurm.sbatch_parts.scripts import ENDING, HANGING, LOST, OPTIONS, REFUSES
from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.testbed import Testbed

_ON_LOST = ("node lost", "batch host lost")
# They stand in line for three nodes, and a machine may be busy.
_SECONDS = 600


def play(slurm: Testbed, hanging: bool, ending: bool) -> dict[str, Case]:
    """Those with a rank that hangs, those whose batch job ends before them, or both; when all have ended."""
    found: dict[str, Case] = {}
    if ending:
        for name in _ON_LOST:
            found[name] = submitted(slurm, name, ENDING[name])
        for name in _ON_LOST:
            found[name].until_saved()
        slurm.kill_node(LOST)
        for name in ENDING.keys() - set(_ON_LOST):
            found[name] = submitted(slurm, name, ENDING[name])
        _block_address(slurm, found["no address"])
        for name, command in (("cancelled", "scancel"), ("requeued", "scontrol requeue")):
            found[name].until_saved()
            slurm.run(f"{command} {found[name].job_id}")
        found["supervisor killed"].until_saved()
        found["supervisor killed"].kill_supervisor()
    if hanging:
        more = [f"--exclude={LOST}"] if ending else []
        for name, text in HANGING.items():
            found[name] = submitted(slurm, name, text, *more)
    for case in found.values():
        case.wait(_SECONDS)
        case.keep_state()
    return found


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

"""The rules about ``spec.slurm``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hedgerow_operator.api.guesses import meant
from hedgerow_operator.api.problem import Problem, blame
from hedgerow_operator.api.rule import Rule, cel_list
from hedgerow_operator.api.slurm_options import KNOWN, OWNED
from hedgerow_operator.api.slurm_spec import PER_TASK, SlurmSpec
from hedgerow_operator.api.spec import TrainingJobSpec

_AT = "spec.slurm"
OPTIONS_PLACE = f"{_AT}.options"

# As sbatch(1) lists them: minutes, m:s, h:m:s, days-h, days-h:m, days-h:m:s. Two digits at most in all but the first.
_TIME_LIMIT = "^([0-9]{1,9}(:[0-9]{1,2}){0,2}|[0-9]{1,6}-[0-9]{1,2}(:[0-9]{1,2}){0,2}|UNLIMITED)?$"
# name[:type][:count], several with commas.
_RESOURCE = "[A-Za-z][A-Za-z0-9_./-]*(:[A-Za-z][A-Za-z0-9_.-]*)?(:[0-9]+[kKmMgGtT]?)?"
_GRES = f"^({_RESOURCE}(,{_RESOURCE})*)?$"
_NO_WORD = r"^\s*$"


def _time_limit_is_one(slurm: SlurmSpec) -> bool:
    return re.fullmatch(_TIME_LIMIT, slurm.time_limit) is not None


def _gres_is_one(slurm: SlurmSpec) -> bool:
    return re.fullmatch(_GRES, slurm.gres) is not None


def _script_says_something(slurm: SlurmSpec) -> bool:
    return re.search(_NO_WORD, slurm.script) is None


def _options_are_known(slurm: SlurmSpec) -> bool:
    return all(name in KNOWN for name in slurm.options)


def _directory_is_absolute(slurm: SlurmSpec) -> bool:
    return slurm.options.get("chdir", "/").startswith("/")


def _directory_is_told(slurm: SlurmSpec) -> bool:
    return slurm.cluster_ref is None or "chdir" in slurm.options


def _checkpoints_are_absolute(spec: TrainingJobSpec) -> bool:
    return spec.slurm is None or spec.checkpoint is None or spec.checkpoint.directory.startswith("/")


def _one_starts_the_ranks(spec: TrainingJobSpec) -> bool:
    return spec.slurm is None or spec.slurm.launch != PER_TASK or spec.processes != "PerWorker"


def _free_of(names: tuple[str, ...]) -> Callable[[SlurmSpec], bool]:
    return lambda slurm: not any(name in slurm.options for name in names)


def unknown_options(slurm: SlurmSpec) -> Iterator[Problem]:
    """Those that sbatch does not have, each by its name: no rule of a schema can name them."""
    for name in slurm.options:
        if name not in KNOWN:
            bare = name.lstrip("-")
            guess = f'; write "{bare}", without dashes' if bare in KNOWN else meant(name, list(KNOWN))
            yield blame(f"{OPTIONS_PLACE}.{name}", f"sbatch has no such long option{guess or '; take it out'}")


UNKNOWN_OPTIONS = Rule(
    at=_AT,
    field="options",
    cel=f"!has(self.options) || self.options.all(name, name in {cel_list(KNOWN)})",
    message="sbatch has no such long option; write names without dashes, such as mem or mail-type",
    holds=_options_are_known,
)

SLURM_RULES = (
    Rule(
        at="spec",
        field="checkpoint.directory",
        cel="!has(self.slurm) || !has(self.checkpoint) || self.checkpoint.directory.startsWith('/')",
        message="with slurm, write an absolute path that every node sees, such as /shared/run7/checkpoints",
        holds=_checkpoints_are_absolute,
    ),
    Rule(
        at="spec",
        field="processes",
        cel=f"!has(self.slurm) || self.slurm.launch != '{PER_TASK}' || !has(self.processes)"
        " || self.processes != 'PerWorker'",
        message="with slurm.launch PerTask srun starts every rank itself; take processes out, or write launch: PerNode",
        holds=_one_starts_the_ranks,
    ),
    Rule(
        at=_AT,
        field="timeLimit",
        cel=f"!has(self.timeLimit) || self.timeLimit.matches('{_TIME_LIMIT}')",
        message='write minutes, "hours:minutes:seconds" or "days-hours:minutes:seconds", such as "2-00:00:00"',
        holds=_time_limit_is_one,
    ),
    Rule(
        at=_AT,
        field="gres",
        cel=f"!has(self.gres) || self.gres.matches('{_GRES}')",
        message="write name:count or name:type:count, several with commas, such as gpu:8 or gpu:h100:8,nvme:1",
        holds=_gres_is_one,
    ),
    Rule(
        at=_AT,
        field="script",
        cel=rf"!self.script.matches(r'{_NO_WORD}')",
        message="there is nothing in it; write the command that trains, such as python train.py",
        holds=_script_says_something,
    ),
    UNKNOWN_OPTIONS,
    *(
        Rule(
            at=_AT,
            field="options",
            cel=f"!has(self.options) || !self.options.exists(name, name in {cel_list(names)})",
            message=f"{', '.join(names)}: {instead}",
            holds=_free_of(names),
        )
        for instead, names in OWNED
    ),
    Rule(
        at=_AT,
        field="options",
        cel="!has(self.options) || !('chdir' in self.options) || self.options['chdir'].startsWith('/')",
        message="chdir: write an absolute path: the directory on the nodes that the script runs in",
        holds=_directory_is_absolute,
    ),
    Rule(
        at=_AT,
        field="options",
        cel="!has(self.clusterRef) || (has(self.options) && 'chdir' in self.options)",
        message="with clusterRef, write chdir: the directory on the nodes that the script runs in, and that Slurm "
        "writes its output to",
        holds=_directory_is_told,
    ),
)

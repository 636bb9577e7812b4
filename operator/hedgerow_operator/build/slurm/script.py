"""The batch script of a placement: finds a Python, starts the launchers by srun, or the user's script that does."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hedgerow_operator.api.slurm_spec import PER_TASK, SlurmSpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.orders import orders
from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.user_script import calls_srun, interpreter

_END = "HEDGEROW_SCRIPT"
# Line length of base64(1).
_COLUMNS = 76
_PREPARE = r"""
fail() { echo "hedgerow: on ${SLURMD_NODENAME:-$HOSTNAME}: $1" >&2; exit 1; }

python=
for candidate in "$wanted" python3 /usr/bin/python3 python3.{14..7}; do
  if [ -n "$candidate" ] && "$candidate" -E -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null; then
    python=$(command -v "$candidate")
    break
  fi
done
[ -n "$python" ] || fail "there is no python3 of 3.7 or later; name one in HEDGEROW_PYTHON where the job is submitted"
(umask 077 && mkdir -p -- "$directory") || fail "$directory cannot be made; it must be on a file system of all nodes"
"""
_SECRECY = r"""
if [ -n "$(find "$HEDGEROW_TOKEN_FILE" -perm /077 2>/dev/null)" ]; then
  echo "hedgerow: others can read $HEDGEROW_TOKEN_FILE, to report for this job; chmod 600 $HEDGEROW_TOKEN_FILE" >&2
fi
"""
# Slurm counts the runs of a job that is requeued from 0, and says so from the second on.
_WHICH_RUN = r"""
run=$(( ${SLURM_RESTART_COUNT:-0} + 1 ))
until HEDGEROW_PLACEMENT=$(sed -n "${run}p" "$runs" 2>/dev/null) && [ -n "$HEDGEROW_PLACEMENT" ]; do sleep 1; done
export HEDGEROW_PLACEMENT
"""
_WHICH_RUN_BY_COMMENT = r"""
run=${SLURM_RESTART_COUNT:-0}
if [ "$run" != 0 ]; then
  command -v scontrol > /dev/null || fail "there is no scontrol to tell the attempt of this run; write resubmit: NewJob"
  told() { scontrol show job "$SLURM_JOB_ID" 2>/dev/null | sed -n "s/^ *Comment=hedgerow:.*:$run=//p"; }
  until HEDGEROW_PLACEMENT=$(told) && [ -n "$HEDGEROW_PLACEMENT" ]; do sleep 2; done
fi
"""


def batch_script(job: TrainingJob, placement: int, places: Places) -> str:
    """The whole script; deterministic. ``job`` must have ``spec.slurm``."""
    slurm = job.spec.slurm
    assert slurm is not None
    return "".join((
        _head(job, placement, places),
        _PREPARE,
        *(_carried(path, data) for path, data in sorted(places.carried.items())),
        _SECRECY,
        _WHICH_RUN if places.runs else _WHICH_RUN_BY_COMMENT if places.runs_in_comment else "",
        _written(slurm.script),
        _by_users_srun(slurm) if calls_srun(slurm.script) else _by_our_srun(job, slurm, places),
    ))  # fmt: skip


def _head(job: TrainingJob, placement: int, places: Places) -> str:
    spec, metadata = job.spec, job.metadata
    size = f"{spec.workers} x {spec.ranks_per_worker} ranks"
    paths = {"directory": places.directory, "archive": places.archive, "runs": places.runs}
    return "\n".join([
        "#!/bin/bash",
        f"# Hedgerow: {metadata.namespace}/{metadata.name}, from attempt {placement} on: {size}",
        "wanted=${HEDGEROW_PYTHON:-}",
        'unset "${!HEDGEROW_@}"',
        *(f"export {name}={shlex.quote(value)}" for name, value in orders(job, placement, places).items()),
        *(f"{name}={shlex.quote(path)}" for name, path in paths.items() if path),
    ]) + "\n"  # fmt: skip


def _carried(path: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    lines = "\n".join(text[at : at + _COLUMNS] for at in range(0, len(text), _COLUMNS))
    name = shlex.quote(path)
    return (
        f"(umask 077 && base64 -d > {name}.part && mv -f -- {name}.part {name}) << '{_END}'"
        f" || fail {shlex.quote(path + ' cannot be written')}\n{lines}\n{_END}\n"
    )


def _written(script: str) -> str:
    """The user's script as a file that every node sees, byte for byte, with a line break at its end."""
    lines, end = script.split("\n"), _END
    while end in lines:
        end += "_"
    text = script if script.endswith("\n") else script + "\n"
    return (
        '(umask 077 && cat > "$directory/script.part" && mv -f -- "$directory/script.part" "$directory/script")'
        f""" << '{end}' || fail "$directory/script cannot be written"\n{text}{end}\n"""
    )


def _by_our_srun(job: TrainingJob, slurm: SlurmSpec, places: Places) -> str:
    """One launcher a node, or one a rank; each starts the user's script, once it is told to."""
    workers, each = job.spec.workers, job.spec.ranks_per_worker
    tasks, how = (each, "per-task") if slurm.launch == PER_TASK else (1, "per-node")
    options = [
        f"--nodes={workers}", f"--ntasks={workers * tasks}", f"--ntasks-per-node={tasks}",
        *(_per_task(slurm.options) if slurm.launch == PER_TASK else ("--distribution=block", "--cpu-bind=none")),
        "--export=ALL", "--kill-on-bad-exit=1", "--unbuffered", "--wait=0",
    ]  # fmt: skip
    if places.logs and "output" not in slurm.options:
        options += ['--output="$directory/worker-%n.log"', "--open-mode=append"]
    command = [*(shlex.quote(word) for word in interpreter(slurm.script)), '"$directory/script"']
    return (
        "# Some releases of srun would give one launcher a node the processors of one rank.\n"
        "unset SRUN_CPUS_PER_TASK\n"
        f"srun {_wrapped(options)} \\\n"
        f'  "$python" -E "$archive" run --slurm-launch {how} -- {" ".join(command)}\n'
    )


def _per_task(options: Mapping[str, str]) -> Iterator[str]:
    """A worker's ranks are numbered one after another: nodes are filled as blocks, whatever is asked for within one."""
    within = options.get("distribution", "").partition(":")[2]
    yield shlex.quote("--distribution=block" + (f":{within}" if within else ""))
    if "cpus-per-task" in options:
        yield shlex.quote(f"--cpus-per-task={options['cpus-per-task']}")  # srun takes it from no variable since 22.05


def _by_users_srun(slurm: SlurmSpec) -> str:
    words = " ".join(shlex.quote(word) for word in interpreter(slurm.script))
    return (
        '"$python" -E "$archive" shim "$directory/shim" || fail "$directory/shim cannot be written"\n'
        "# shellcheck source=/dev/null\n"
        '. "$directory/shim/environment.sh"\n'
        f'{words} "$directory/script"\n'
    )


def _wrapped(options: Sequence[str]) -> str:
    """Four options a line."""
    lines: Iterable[str] = (" ".join(options[at : at + 4]) for at in range(0, len(options), 4))
    return " \\\n  ".join(lines)

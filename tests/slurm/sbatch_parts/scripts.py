"""The scripts that are submitted with hedgerow sbatch. {train} and the like are filled in for each."""

LOST = "n2"
SCRIPTS = {
    "plain": """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
echo before
srun python3 {train} {folder} 60 30
echo "after $?"
""",
    "torchrun": """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
nodes=( $(scontrol show hostnames "$SLURM_JOB_NODELIST") )
echo "before ${nodes[0]}"
srun ./torchrun --nnodes=2 --nproc_per_node=1 --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d \\
    --rdzv_endpoint=${nodes[0]}:29511 {train} {folder} 60 30
echo "after $?"
""",
    "pmi2": """#!/bin/sh
#SBATCH -N 2
#SBATCH -n 2
srun --mpi=pmi2 sh -c 'python3 {pmi2} && exec python3 {train} {folder} 60 30'
echo "after $?"
""",
    "conda": """#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
mkdir -p {folder}/env/bin
ln -s "$(command -v python3)" {folder}/env/bin/python
conda_activate() { export CONDA_PREFIX={folder}/env PATH={folder}/env/bin:/usr/bin:/bin; }
conda_activate
srun python {train} {folder} 60 30
echo "after $?"
""",
}
ARRAY = """#!/bin/bash
#SBATCH --array=0-1
#SBATCH --nodes=1 --ntasks=2
mkdir -p {folder}/$SLURM_ARRAY_TASK_ID
srun python3 {train} {folder}/$SLURM_ARRAY_TASK_ID 60 30
echo "after $? of $SLURM_ARRAY_TASK_COUNT"
"""
HANGING = {**SCRIPTS, "array": ARRAY}

_ENDING = """#!/bin/bash
#SBATCH --ntasks=2 --exclude={exclude} {more}
echo "run ${{SLURM_RESTART_COUNT-0}}"
{before}
srun python3 {{train}} {{folder}} {steps} {hangs}
code=$?
echo "after $code"
exit $code
"""


def script(exclude: str = LOST, more: str = "--nodes=1", before: str = "", steps: int = 60, hangs: str = "") -> str:
    return _ENDING.format(exclude=exclude, more=more, before=before, steps=steps, hangs=hangs)


ENDING = {
    "node lost": script(exclude="n3", more="--nodes=2", steps=400),
    "batch host lost": script(exclude="n1", more="--nodes=2", steps=400),
    # Longer than a minute's limit lets it, at the very most.
    "time limit": script(more="--nodes=1 --time=1", steps=1200),
    "cancelled": script(steps=2000),
    "alone": script(steps=60, more="--nodes=1"),
    "supervisor killed": script(steps=400),
    "killed before a step": script(steps=60, before="export SILENT_AT_FIRST=1"),
    "given up": script(steps=400),
    "spare node": script(more="--nodes=3", before="export BAD_NODE=1", hangs="15")
    .replace("--ntasks=2", "--ntasks=3")
    .replace("srun", "srun -N2 -n2"),
    "no address": script(),
    "requeued": script(more="--nodes=1 --requeue", steps=400),
    "no room": script(exclude="n1,n2,n3", before="export BAD_NODE=1", hangs="15"),
    "refused": script(before="", steps=60),
    "bad node": script(before="export BAD_NODE=1", hangs="15"),
}
OPTIONS = {"alone": ["--no-successor"], "no address": ["--hold"], "given up": ["--job-spec=once.yaml"]}
# A site where no job may submit another.
REFUSES = """#!/bin/sh
case "$*" in *afternotok*)
    echo "sbatch: error: Batch job submission failed: Access/permission denied" >&2
    exit 1 ;;
esac
exec /usr/bin/sbatch "$@"
"""

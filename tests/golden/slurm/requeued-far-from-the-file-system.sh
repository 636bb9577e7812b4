#!/bin/bash
#SBATCH --job-name=llama
#SBATCH --comment=hedgerow:8e6e7a9c-0000-4000-8000-000000000001:1
#SBATCH --chdir=/
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@60
# Hedgerow: team-a/llama, from attempt 1 on: 2 x 4 ranks
wanted=${HEDGEROW_PYTHON:-}
unset "${!HEDGEROW_@}"
export HEDGEROW_JOB_UID=8e6e7a9c-0000-4000-8000-000000000001
export HEDGEROW_JOB_NAMESPACE=team-a
export HEDGEROW_JOB_NAME=llama
export HEDGEROW_WORKERS=2
export HEDGEROW_NPROC=4
export HEDGEROW_MASTER_PORT=0
export HEDGEROW_TOKEN_FILE=/shared/hedgerow/token
export HEDGEROW_HEARTBEAT_SOURCE=Auto
export HEDGEROW_FENCE_SECONDS=120
export HEDGEROW_GRACE_SECONDS=30
export HEDGEROW_PLACEMENT=1
export HEDGEROW_ADDRESS_FILE=/shared/hedgerow/address
directory=/shared/hedgerow/placement-1
archive=/shared/hedgerow/hedgerow.pyz

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

if [ -n "$(find "$HEDGEROW_TOKEN_FILE" -perm /077 2>/dev/null)" ]; then
  echo "hedgerow: others can read $HEDGEROW_TOKEN_FILE, to report for this job; chmod 600 $HEDGEROW_TOKEN_FILE" >&2
fi

run=${SLURM_RESTART_COUNT:-0}
if [ "$run" != 0 ]; then
  command -v scontrol > /dev/null || fail "there is no scontrol to tell the attempt of this run; write resubmit: NewJob"
  told() { scontrol show job "$SLURM_JOB_ID" 2>/dev/null | sed -n "s/^ *Comment=hedgerow:.*:$run=//p"; }
  until HEDGEROW_PLACEMENT=$(told) && [ -n "$HEDGEROW_PLACEMENT" ]; do sleep 2; done
fi
(umask 077 && cat > "$directory/script.part" && mv -f -- "$directory/script.part" "$directory/script") << 'HEDGEROW_SCRIPT' || fail "$directory/script cannot be written"
python train.py
HEDGEROW_SCRIPT
# Some releases of srun would give one launcher a node the processors of one rank.
unset SRUN_CPUS_PER_TASK
srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --distribution=block \
  --cpu-bind=none --export=ALL --kill-on-bad-exit=1 --unbuffered \
  --wait=0 --output="$directory/worker-%n.log" --open-mode=append \
  "$python" -E "$archive" run --slurm-launch per-node -- /bin/bash "$directory/script"

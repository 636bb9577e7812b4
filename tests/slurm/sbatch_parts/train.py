"""A rank of the tests: train.py FOLDER STEPS [HANGS_AT]. Rank 1 really hangs there in its first life.

BAD_NODE is set: it is killed there instead, in each life on the node where it was first.
SILENT_AT_FIRST is set: in the first attempt no rank comes to a step.

FOLDER gets: lives (a line for each start: attempt, rank, first step, node), ended (ranks that came to the last step),
twice (ranks that lived beside themselves; never written), checkpoints/.
"""

import fcntl
import json
import os
import signal
import struct
import sys
import time

try:
    from hedgerow import beat
except ImportError:  # nobody watches

    def beat(step):
        pass


SAVES_EVERY = 10
STEP_SECONDS = 0.05


def number(*names):
    return int(next((os.environ[name] for name in names if os.environ.get(name)), "0"))


def note(name, *words):
    with open(os.path.join(folder, name), "a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def alone():
    """Held for life: whoever finds it taken has a twin."""
    lock = open(os.path.join(folder, f"rank-{rank}.lock"), "w")  # noqa: SIM115 (held for life)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note("twice", rank)
    return lock


def save(step):
    header = json.dumps({"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}).encode()
    os.makedirs(checkpoints, exist_ok=True)
    path = os.path.join(checkpoints, f"step-{step:06d}.safetensors")
    with open(path + ".tmp", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack("<d", float(step)))
    os.replace(path + ".tmp", path)


def wait_for_the_other(step):
    """As in a collective: nothing is saved that not all have done."""
    place = os.path.join(folder, f"attempt-{attempt}")
    os.makedirs(place, exist_ok=True)
    open(os.path.join(place, f"{rank}-{step}"), "w").close()
    while not os.path.exists(os.path.join(place, f"{1 - rank}-{step}")) and not asked:
        time.sleep(0.01)


def first_step():
    path = os.environ.get("HEDGEROW_RESUME_FROM")
    return int(os.path.basename(path)[len("step-") :][:6]) + 1 if path else 0


def on_bad_node():
    path, here = os.path.join(folder, "bad-node"), os.environ["SLURMD_NODENAME"]
    if not os.path.exists(path):
        note("bad-node", here)
    with open(path) as file:
        return file.read().strip() == here


def ask_to_save(_number, _frame):
    global asked
    asked = True


folder, steps = sys.argv[1], int(sys.argv[2])
hangs_at = int(sys.argv[3]) if len(sys.argv) > 3 else -1
rank = number("RANK", "PMI_RANK", "SLURM_PROCID")
checkpoints = os.path.join(folder, "checkpoints")
attempt = os.environ.get("HEDGEROW_ATTEMPT", "0")
asked = False
signal.signal(signal.SIGTERM, ask_to_save)
lock = alone()
start = first_step()
hung = os.path.join(folder, "hung")
note("lives", attempt, rank, start, os.environ.get("SLURMD_NODENAME"))
while os.environ.get("SILENT_AT_FIRST") and attempt == "1" and not asked:
    time.sleep(STEP_SECONDS)
for step in range(start, steps):
    time.sleep(STEP_SECONDS)
    beat(step)
    if rank == 1 and step == hangs_at and os.environ.get("BAD_NODE") and on_bad_node():
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 1 and step == hangs_at and not os.path.exists(hung) and not os.environ.get("BAD_NODE"):
        note("hung", rank)
        while True:
            signal.pause()
    saves = step % SAVES_EVERY == SAVES_EVERY - 1
    if saves:
        wait_for_the_other(step)
    if rank == 0 and (asked or saves):
        save(step)
    if asked:
        sys.exit(1)
note("ended", rank)

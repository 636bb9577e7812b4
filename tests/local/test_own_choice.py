"""A script that chooses its checkpoint itself, and takes the newest, never resumes from a torn one."""

import json
import os
from typing import Any

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED
from tests.local.forked import run_to_end
from tests.local.processes import LocalRun

# Never looks at HEDGEROW_RESUME_FROM. The first attempt dies while it saves step 30.
SCRIPT = """
import json, os, re, struct, sys, time, zipfile
import hedgerow

directory, rank, attempt = os.environ["CHECKPOINT_DIRECTORY"], os.environ["RANK"], os.environ["HEDGEROW_ATTEMPT"]
at = lambda *names: os.path.join(directory, *names)

def archive(path, step):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("step", str(step))

def cut(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) * 6 // 10)

def step_in(path):
    with zipfile.ZipFile(path) as file:
        return int(file.read("step"))

{own}

os.makedirs(directory, exist_ok=True)
start = newest()
if rank == "0":
    print("attempt", attempt, "starts from", start)
for step in range(start + 1, 41):
    time.sleep(0.03)
    hedgerow.beat(step=step)
    if rank == "0" and step % 10 == 0:
        save(step, torn=step == 30 and attempt == "1")
    if step == 30 and attempt == "1":
        time.sleep(0.2)
        sys.exit(1)
"""

NEWEST_FILE = """
def save(step, torn):
    archive(at(f"ckpt_{step}.pt"), step)
    if torn:
        cut(at(f"ckpt_{step}.pt"))

def newest():
    steps = [int(name[5:-3]) for name in os.listdir(directory) if re.match(r"ckpt_\\d+\\.pt$", name)]
    return step_in(at(f"ckpt_{max(steps)}.pt")) if steps else 0
"""

# nanoGPT's ckpt.pt, beside a copy for each step.
ONE_FILE = """
def save(step, torn):
    archive(at(f"ckpt_{step}.pt"), step)
    archive(at("ckpt.pt"), step)
    if torn:
        cut(at("ckpt.pt"))
        cut(at(f"ckpt_{step}.pt"))

def newest():
    if os.path.exists(at("ckpt.pt")):
        return step_in(at("ckpt.pt"))
    steps = [int(name[5:-3]) for name in os.listdir(directory) if re.match(r"ckpt_\\d+\\.pt$", name)]
    return max(steps, default=0)
"""

# transformers.trainer_utils.get_last_checkpoint, and the Trainer's order of writing.
TRAINER = """
def save(step, torn):
    os.makedirs(at(f"checkpoint-{step}"), exist_ok=True)
    with open(at(f"checkpoint-{step}", "model.safetensors"), "wb") as file:
        header = json.dumps({"w": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}).encode()
        file.write(struct.pack("<Q", len(header)) + header + b"wwww")
    if not torn:
        with open(at(f"checkpoint-{step}", "trainer_state.json"), "w") as file:
            json.dump({"global_step": step}, file)

def newest():
    steps = [int(name[11:]) for name in os.listdir(directory) if re.match(r"^checkpoint-(\\d+)$", name)]
    if not steps:
        return 0
    with open(at(f"checkpoint-{max(steps)}", "trainer_state.json")) as file:
        return json.load(file)["global_step"]
"""

TRACKER = """
def save(step, torn):
    archive(at(f"step-{step}.pt"), step)
    if torn:
        cut(at(f"step-{step}.pt"))
    with open(at("latest"), "w") as file:
        file.write(f"step-{step}.pt")

def newest():
    if not os.path.exists(at("latest")):
        return 0
    with open(at("latest")) as file:
        return step_in(at(file.read()))
"""

SCRIPTS = {"newest file": NEWEST_FILE, "one file": ONE_FILE, "Trainer": TRAINER, "tracker": TRACKER}


def write(run: LocalRun, own: str, **fields: Any) -> None:
    run.write(script=run.script(SCRIPT.replace("{own}", own)), **fields)


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_resumes_right_after_a_torn_newest_one(run: LocalRun, name: str) -> None:
    write(run, SCRIPTS[name])
    code, output = run.run("-o", "json")
    assert (code, run.job().status.restarts) == (0, 1), output + run.printed()
    assert "attempt 2 starts from 20" in run.printed()
    aside = {entry for entry in os.listdir(run.folder / "checkpoints") if entry.endswith(".hedgerow-invalid")}
    assert aside
    assert all(f"is set aside as {entry}: " in run.printed() for entry in aside)


def test_the_event_says_what_was_set_aside_and_the_command_undoes_it(run: LocalRun) -> None:
    write(run, NEWEST_FILE)
    code, output = run.run()
    assert code == 0, output
    kept = run.folder / "checkpoints" / "ckpt_30.pt.hedgerow-invalid"
    assert f"ckpt_30.pt is set aside as {kept.name}: ckpt_30.pt is torn: its end is missing" in " ".join(output.split())
    os.unlink(run.folder / "checkpoints" / "ckpt_30.pt")  # of the second attempt, whole
    restored = run_to_end("checkpoints", "--restore", str(kept.parent))
    assert restored == (0, f"{kept.parent}/ckpt_30.pt is there again\n")
    code, listed = run_to_end("checkpoints", str(kept.parent), "-o", "json")
    assert code == 0, listed
    found = {entry["step"]: entry["validity"] for entry in json.loads(listed)["checkpoints"]}
    assert found == {40: "Complete", 30: "Invalid", 20: "Complete", 10: "Complete"}


def test_with_leave_nothing_is_touched_and_the_script_meets_what_it_chose(run: LocalRun) -> None:
    write(run, NEWEST_FILE)
    text = run.manifest.read_text()
    run.manifest.write_text(text.replace('/checkpoints"}', '/checkpoints", onInvalid: Leave}'))
    code, output = run.run()
    assert (code, run.condition(FAILED).reason) == (1, reasons.NO_CHECKPOINT_PROGRESS), output
    assert "BadZipFile" in run.condition(FAILED).message
    assert sorted(os.listdir(run.folder / "checkpoints")) == ["ckpt_10.pt", "ckpt_20.pt", "ckpt_30.pt"]


def test_two_workers_that_share_the_directory_set_aside_once(run: LocalRun) -> None:
    write(run, TRACKER, workers=2, ranks=1)
    code, output = run.run()
    assert (code, run.job().status.restarts) == (0, 1), output
    assert "attempt 2 starts from 20" in run.printed()
    said = run.printed(worker=0) + run.printed(worker=1)
    assert said.count("is set aside as step-30.pt.hedgerow-invalid") == 1
    assert "it names step-20.pt now" in said

"""The job of a command line without a manifest: its name, its ranks, its rules."""

import itertools
from pathlib import Path

import pytest

from hedgerow_operator.cli.command_job import Wanted, as_manifests, names, ranks_of

NAMES = {
    "a script": ("python train.py", "train"),
    "a script in a folder with capitals and an underscore": ("python3 src/Train_GPT.py --lr 0.1", "train-gpt"),
    "a launcher with a script": ("torchrun --nproc-per-node=8 pretrain.py", "pretrain"),
    "a launcher as a module": ("python -m torch.distributed.run --nproc_per_node 8 train.py", "train"),
    "a module": ("python -m nemo.train --config c.yaml", "nemo-train"),
    "a module that a launcher module runs": (
        "python -m torch.distributed.run -m axolotl.cli.train",
        "axolotl-cli-train",
    ),
    "a shell script": ("bash run_all.sh 3", "run-all"),
    "a program": ("./a.out", "a-out"),
    "nothing that could be a name": ("./___", "job"),
    "a name that is too long": (f"python {'x' * 80}.py", "x" * 41),
}


@pytest.mark.parametrize("case", NAMES)
def test_the_name_of(case: str) -> None:
    command, name = NAMES[case]
    assert next(names(command.split())) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert list(itertools.islice(names(["python", "train.py"]), 3)) == ["train", "train-2", "train-3"]


RANKS = {
    "a program of one rank": (["python", "train.py"], 1),
    "torchrun with a number": (["torchrun", "--nproc-per-node=8", "train.py"], 8),
    "torchrun with the older spelling": (["torchrun", "--nproc_per_node", "4", "train.py"], 4),
    "torchrun without a number": (["torchrun", "train.py"], 1),
    "accelerate": (["accelerate", "launch", "--num_processes", "2", "train.py"], 2),
    "a shell that calls torchrun": (["bash", "-c", "exec torchrun --nproc-per-node 3 train.py"], 3),
    "a script's own option of this name": (["python", "train.py", "--num-processes", "4"], 1),
    "as many as there are GPUs": (["torchrun", "--nproc-per-node=gpu", "train.py"], 2),
    "a launcher's number that is not there": (["torchrun", "--nproc-per-node"], 2),
}


@pytest.mark.parametrize("case", RANKS)
def test_the_ranks_of(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command, ranks = RANKS[case]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
    assert ranks_of(command).count == ranks


def test_a_shell_script_that_calls_torchrun_is_looked_into(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\n# torchrun --nproc-per-node 9\nexec torchrun \\\n  --nproc-per-node='4' train.py\n")
    ranks = ranks_of(["bash", str(script)])
    assert (ranks.count, ranks.why) == (
        4,
        "4 ranks, as --nproc-per-node in the command says; --nproc gives another number",
    )


def test_the_options_become_the_fields_of_a_manifest(tmp_path: Path) -> None:
    wanted = Wanted(command=("python", "t.py"), nproc=4, workers=2, checkpoint_directory="ckpt", max_restarts=0)
    manifests = as_manifests(wanted, "t", tmp_path)
    assert manifests.errors == ()
    (found,) = manifests.jobs
    spec = found.job.spec
    assert spec.local is not None
    assert spec.checkpoint is not None
    assert (spec.ranks_per_worker, spec.workers, spec.recovery.max_restarts) == (4, 2, 0)
    assert (spec.local.command, spec.local.working_dir) == (("python", "t.py"), str(tmp_path))
    assert spec.checkpoint.directory == "ckpt"
    assert found.folder == tmp_path


WRONG = {
    "too many ranks": (Wanted(command=("python",), nproc=1000), "spec.ranksPerWorker"),
    "a checkpoint directory without a name": (Wanted(command=("python",), checkpoint_directory=""), "spec.checkpoint"),
    "a name that no object may have": (Wanted(command=("python",)), "metadata.name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_rules_of_manifests_hold_for(case: str, tmp_path: Path) -> None:
    wanted, place = WRONG[case]
    manifests = as_manifests(wanted, "-x-" if "name that" in case else "x", tmp_path)
    assert manifests.jobs == ()
    assert str(manifests.errors[0]).startswith(f"command line: {place}")

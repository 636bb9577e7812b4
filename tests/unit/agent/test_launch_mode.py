"""Which commands start the ranks themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow.launch_mode import PER_RANK, PER_WORKER, default_mode, shown

COMMANDS: dict[str, tuple[list[str], str]] = {
    "a script": (["python", "train.py"], PER_RANK),
    "a module": (["python3", "-u", "-m", "train", "--launcher", "torchrun"], PER_RANK),
    "an argument that is a module of torch": (["python", "train.py", "-m", "torch.distributed.run"], PER_RANK),
    "torchrun": (["torchrun", "--nproc-per-node=8", "train.py"], PER_WORKER),
    "torchrun by its path": (["/opt/venv/bin/torchrun", "train.py"], PER_WORKER),
    "torchrun as an argument of its Python": (["python", "/opt/venv/bin/torchrun", "train.py"], PER_WORKER),
    "torch.distributed.run": (["python", "-u", "-m", "torch.distributed.run", "train.py"], PER_WORKER),
    "torch.distributed.launch": (["python3", "-m", "torch.distributed.launch", "train.py"], PER_WORKER),
    "accelerate": (["accelerate", "launch", "train.py"], PER_WORKER),
    "deepspeed": (["deepspeed", "train.py"], PER_WORKER),
    "with variables in front": (["env", "-u", "X", "A=1", "torchrun", "train.py"], PER_WORKER),
    "without priority": (["nice", "-n", "5", "python", "train.py"], PER_RANK),
    "a shell that calls a script": (["bash", "-c", "python train.py"], PER_RANK),
    "a shell that calls torchrun": (["bash", "-c", "cd /code && exec torchrun train.py"], PER_WORKER),
    "a login shell that calls accelerate": (["bash", "-lc", "accelerate launch train.py"], PER_WORKER),
    "a shell that only tests for accelerate": (["sh", "-c", "accelerate env; python train.py"], PER_RANK),
    "a shell that names a file like it": (["sh", "-c", "python torchrun_train.py --config deepspeed.json"], PER_RANK),
    "an option of the name": (["sh", "-c", "python train.py --deepspeed ds.json"], PER_RANK),
    "a script that is not there": (["bash", "/nowhere/train.sh"], PER_RANK),
    "nothing": ([], PER_RANK),
}


@pytest.mark.parametrize(("command", "mode"), COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_is_told_by_what_it_calls(command: list[str], mode: str) -> None:
    assert default_mode(command) == mode


SCRIPTS = {
    "as Megatron-LM's examples do": (
        "#!/bin/bash\nDISTRIBUTED_ARGS=(--nproc_per_node 8)\n"
        "torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \\\n  ${ARGS[@]}\n",
        PER_WORKER,
    ),
    "as torchtitan does": (
        "NGPU=${NGPU:-8}\nPYTORCH_ALLOC_CONF=x \\\ntorchrun --nproc_per_node=${NGPU} -m t.train\n",
        PER_WORKER,
    ),
    "by a module": ('exec "$PYTHON" -m torch.distributed.launch train.py', PER_WORKER),
    "by deepspeed": ("deepspeed --num_gpus 8 main.py --deepspeed ds.json", PER_WORKER),
    "in a comment only": ("# torchrun does not work here\npython train.py  # not torchrun\n", PER_RANK),
}


@pytest.mark.parametrize(("text", "mode"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_shell_script_is_read(tmp_path: Path, text: str, mode: str) -> None:
    script = tmp_path / "train.sh"
    script.write_text(text)
    assert default_mode(["bash", "-e", str(script), "torchrun"]) == mode
    assert default_mode([str(script)]) == mode


def test_a_command_is_named_by_what_it_runs() -> None:
    assert shown(["/usr/bin/python3", "-m", "torch.distributed.run", "train.py"]) == "torch.distributed.run"
    assert shown(["env", "A=1", "/opt/bin/torchrun", "train.py"]) == "torchrun"
    assert shown(["bash", "train.sh"]) == "bash"

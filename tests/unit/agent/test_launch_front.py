"""Words in front of a command do not hide what the command is."""

from __future__ import annotations

import shlex

import pytest

from hedgerow.launch_front import without_front
from hedgerow.launch_mode import PER_RANK, PER_WORKER, default_mode, script_file

FRONTS = {
    "nothing": ("torchrun a.py", "torchrun a.py"),
    "exec": ("exec torchrun a.py", "torchrun a.py"),
    "exec with a name": ("exec -a x torchrun a.py", "torchrun a.py"),
    "env with variables": ("env -u X A=1 B=2 torchrun a.py", "torchrun a.py"),
    "nice and nohup": ("nice -n 5 nohup torchrun a.py", "torchrun a.py"),
    "a time limit": ("timeout -k 5 3600 torchrun a.py", "torchrun a.py"),
    "numactl": ("numactl --cpunodebind=0 -m 0 python a.py", "python a.py"),
    "tini": ("/usr/bin/tini -g -- bash a.sh", "bash a.sh"),
    "uv": ("uv run torchrun a.py", "torchrun a.py"),
    "uv with options": ("uv --quiet run --with deepspeed --frozen python -m x", "python -m x"),
    "conda": ("conda run --no-capture-output -n llm torchrun a.py", "torchrun a.py"),
    "conda by path": ("/opt/conda/bin/conda run -p /env python a.py", "python a.py"),
    "poetry": ("poetry run accelerate launch a.py", "accelerate launch a.py"),
    "a container": ("apptainer exec --nv -B /data image.sif torchrun a.py", "torchrun a.py"),
    "a profiler": ("nsys profile -o out --trace=cuda torchrun a.py", "torchrun a.py"),
    "uv that does something else": ("uv pip install x", "uv pip install x"),
    "conda without a command": ("conda run", ""),
    "only variables": ("env A=1", ""),
}


@pytest.mark.parametrize(("command", "want"), FRONTS.values(), ids=FRONTS.keys())
def test_what_stands_in_front_is_left_out(command: str, want: str) -> None:
    assert list(without_front(shlex.split(command))) == shlex.split(want)


MODES = {
    "uv run torchrun a.py": PER_WORKER,
    "conda run -n llm python -m torch.distributed.run a.py": PER_WORKER,
    "uv run --with deepspeed python a.py": PER_RANK,
    "python -X faulthandler -m torch.distributed.run a.py": PER_WORKER,
    "python a.py -m torch.distributed.run": PER_RANK,
    "tini -- bash -c 'cd x && exec torchrun a.py'": PER_WORKER,
    "conda run": PER_RANK,
}


@pytest.mark.parametrize("command", MODES)
def test_the_mode_is_that_of_the_command_behind(command: str) -> None:
    assert default_mode(shlex.split(command)) == MODES[command]


SCRIPTS = {
    "bash train.sh --x": "train.sh",
    "bash -ex train.sh": "train.sh",
    "./train.sh": "./train.sh",
    "env A=1 sh /x/train.sh": "/x/train.sh",
    "bash -c 'torchrun a.py'": "",
    "bash -lc 'torchrun a.py'": "",
    "torchrun a.py": "",
    "bash": "",
}


@pytest.mark.parametrize("command", SCRIPTS)
def test_only_a_script_in_a_file_hides_what_it_starts(command: str) -> None:
    assert script_file(shlex.split(command)) == SCRIPTS[command]

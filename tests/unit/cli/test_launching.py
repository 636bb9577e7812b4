"""What is seen of a command line: the commands in it, the launcher of ranks, what gives way, how it resumes."""

from __future__ import annotations

import shlex

import pytest

from hedgerow_operator.cli.launching import launch_of, simple_commands
from tests.unit.cli.check_builders import local, spec_of

COMMANDS = {
    "a plain one": (["torchrun", "a.py"], ["torchrun a.py"]),
    "behind others": (["uv", "run", "torchrun", "a.py"], ["torchrun a.py"]),
    "in a shell": (["bash", "-c", "cd /x && torchrun a.py"], ["cd /x", "torchrun a.py"]),
    "with variables in front": (["sh", "-c", "A=1 B=$C torchrun $N a.py"], ["torchrun '$N' a.py"]),
    "over several lines": (
        ["sh", "-c", "torchrun \\\n  --nnodes=2 \\\n  a.py\necho end"],
        ["torchrun --nnodes=2 a.py", "echo end"],
    ),
    "after a comment": (["sh", "-c", "# train; now\ntorchrun a.py # on 8\n"], ["torchrun a.py"]),
    "a hash inside a word": (["sh", "-c", "python a.py --tag a#b"], ["python a.py --tag 'a#b'"]),
    "in quotes": (["sh", "-c", "python a.py --say 'a && b'"], ["python a.py --say 'a && b'"]),
    "under a condition": (
        ["sh", "-c", "if test -f a; then exec torchrun a.py; fi"],
        ["if test -f a", "torchrun a.py", "fi"],
    ),
    "text that cannot be split": (["sh", "-c", "echo 'a"], []),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_the_commands(case: str) -> None:
    command, want = COMMANDS[case]
    assert [shlex.join(words) for words in simple_commands(command)] == want


OPTIONS: dict[str, tuple[str, str, str]] = {
    "torchrun": ("torchrun --nproc-per-node 8 --tee 3 a.py --nnodes 9", "torchrun", "--nproc-per-node 8"),
    "torchrun by path": ("python3 /opt/bin/torchrun --standalone a.py", "torchrun", "--standalone"),
    "as a module": ("python -u -m torch.distributed.run --max-restarts=3 a.py", "torchrun", "--max-restarts=3"),
    "accelerate": ("accelerate launch --num_machines 2 a.py", "accelerate launch", "--num_machines 2"),
    "accelerate that launches nothing": ("accelerate config --num_machines 2", "", ""),
    "deepspeed": ("deepspeed --num_gpus=4 a.py --deepspeed x.json", "deepspeed", "--num_gpus=4"),
    "a script of that name's argument": ("python a.py torchrun --nnodes=2", "", ""),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_what_gives_way(case: str) -> None:
    command, launcher, gone = OPTIONS[case]
    launch = launch_of(spec_of(local(shlex.split(command))))
    assert (launch.launcher, shlex.join(launch.gives_way)) == (launcher, gone)


RESUMES = {
    "python a.py --resume": ["--resume"],
    "python a.py --resume --lr 1": ["--resume"],
    "python a.py --load /ckpt --save /ckpt": ["--load /ckpt"],
    "python a.py ++exp_manager.resume_if_exists=True": ["++exp_manager.resume_if_exists=True"],
    "bash -c 'torchrun a.py --ckpt_path=last | tee log'": ["--ckpt_path=last"],
    "python a.py --resume_every 3": [],
}


@pytest.mark.parametrize("command", RESUMES)
def test_how_it_resumes(command: str) -> None:
    assert list(launch_of(spec_of(local(shlex.split(command)))).resumes) == RESUMES[command]

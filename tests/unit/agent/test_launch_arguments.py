"""What a launcher of ranks is told on its command line gives way to the job: users' real command lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow import launch_arguments, pack
from hedgerow.launch_arguments import World, ours, without_ours
from hedgerow.rank_environment import injected_path

ONE = World(1, 0, 8, "127.0.0.1", 20001, "/ranks")
TWO = World(2, 1, 8, "10.0.0.7", 20001, "/ranks")
SHOW = "import json, sys\nprint(json.dumps(sys.argv))\n"

# launcher, world, what the user wrote, what stays, what gives way
LINES: dict[str, tuple[str, World, str, str, str]] = {
    "torchrun as in nanoGPT's README": (
        "torchrun",
        TWO,
        "--nproc_per_node=8 --nnodes=2 --node_rank=0 --master_addr=123.456.123.456 --master_port=1234 train.py",
        "train.py",
        "--nproc_per_node=8 --nnodes=2 --node_rank=0 --master_addr=123.456.123.456 --master_port=1234",
    ),
    "torchrun as in torchtitan": (
        "torchrun",
        ONE,
        "--nproc_per_node=8 --rdzv_backend c10d --rdzv_endpoint=localhost:0 --local-ranks-filter 0 --role rank "
        "--tee 3 -m torchtitan.train --nnodes 9",
        "--local-ranks-filter 0 --role rank --tee 3 -m torchtitan.train --nnodes 9",
        "--nproc_per_node=8 --rdzv_backend c10d --rdzv_endpoint=localhost:0",
    ),
    "torchrun alone on its machine": (
        "torchrun",
        ONE,
        "--standalone --max-restarts 3 train.py",
        "train.py",
        "--standalone --max-restarts 3",
    ),
    "torchrun with a short option and its value in one word": (
        "torchrun",
        ONE,
        "-t3 -r 1 -m train --nnodes 2",
        "-t3 -r 1 -m train --nnodes 2",
        "",
    ),
    "accelerate as in axolotl": (
        "accelerate-launch",
        ONE,
        "--num_processes 4 -m axolotl.cli.train config.yaml",
        "--num_processes 8 --num_machines 1 --machine_rank 0 --main_process_ip 127.0.0.1 --main_process_port 20001 "
        "--max_restarts 0 --rdzv_backend static -m axolotl.cli.train config.yaml",
        "--num_processes 4",
    ),
    "accelerate over machines": (
        "accelerate-launch",
        TWO,
        "--config_file fsdp.yaml --use_fsdp --num_machines=4 train.py --num_machines 3",
        "--num_processes 16 --num_machines 2 --machine_rank 1 --main_process_ip 10.0.0.7 --main_process_port 20001 "
        "--max_restarts 0 --rdzv_backend static --deepspeed_multinode_launcher standard --config_file fsdp.yaml "
        "--use_fsdp train.py --num_machines 3",
        "--num_machines=4",
    ),
    "deepspeed on one machine": (
        "deepspeed",
        ONE,
        "--include localhost:0,1 --module main --deepspeed ds.json",
        "--num_gpus 8 --master_port 20001 --module main --deepspeed ds.json",
        "--include localhost:0,1",
    ),
    "deepspeed over machines": (
        "deepspeed",
        TWO,
        "--hostfile=hosts --no_local_rank main.py --num_gpus 2",
        "--no_ssh --num_gpus 8 --master_port 20001 --hostfile /ranks/hostfile --node_rank 1 --master_addr 10.0.0.7 "
        "--num_nodes 2 --no_local_rank main.py --num_gpus 2",
        "--hostfile=hosts",
    ),
}


@pytest.mark.parametrize(("name", "world", "line", "want", "gone"), LINES.values(), ids=LINES.keys())
def test_the_job_decides_and_the_rest_is_left(name: str, world: World, line: str, want: str, gone: str) -> None:
    kind, _own = launch_arguments.KINDS[name]
    kept, dropped = without_ours(kind, line.split())
    assert (" ".join(ours(kind, world) + kept), " ".join(dropped)) == (want, gone)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    pack.write(str(tmp_path / "hedgerow.pyz"))
    return tmp_path / "hedgerow.pyz"


def started(tmp_path: Path, archive: Path, program: list[str], **more: str) -> tuple[str, str]:
    """Output and error output of a launcher's stand-in, started as below a command of two workers."""
    variables = {
        "PYTHONPATH": injected_path(str(archive), str(tmp_path)),
        "HEDGEROW_RANKS": str(tmp_path),
        "PET_NNODES": "2",
        "PET_NODE_RANK": "1",
        "PET_NPROC_PER_NODE": "8",
        "PET_MASTER_ADDR": "10.0.0.7",
        "PET_MASTER_PORT": "20001",
        **more,
    }
    done = subprocess.run(program, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr.strip()


def test_a_program_called_torchrun_is_told_wherever_it_is_called_and_a_line_says_so(
    tmp_path: Path, archive: Path
) -> None:
    (tmp_path / "torchrun").write_text(f"#!{sys.executable}\n{SHOW}")
    (tmp_path / "torchrun").chmod(0o755)
    out, err = started(tmp_path, archive, ["/bin/sh", "-c", f"{tmp_path}/torchrun --nnodes=1 train.py"])
    assert out == f'["{tmp_path}/torchrun", "train.py"]'
    assert err == (
        "hedgerow: torchrun: --nnodes=1 give way to what the job says: "
        "2 workers of 8 ranks, restarted by Hedgerow alone"
    )


def test_a_module_is_told_too(tmp_path: Path, archive: Path) -> None:
    package = tmp_path / "deepspeed" / "launcher"
    package.mkdir(parents=True)
    for name, text in (("../__init__.py", ""), ("__init__.py", ""), ("runner.py", SHOW)):
        (package / name).write_text(text)
    out, err = started(tmp_path, archive, [sys.executable, "-m", "deepspeed.launcher.runner", "main.py"])
    assert '"--node_rank", "1"' in out
    assert (tmp_path / "hostfile").read_text() == "worker-0 slots=8\nworker-1 slots=8\n"
    assert err == ""


def test_other_commands_of_accelerate_are_left_alone(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "accelerate").write_text(SHOW)
    out, _err = started(tmp_path, archive, [sys.executable, str(tmp_path / "accelerate"), "env", "--num_machines=1"])
    assert out == f'["{tmp_path}/accelerate", "env", "--num_machines=1"]'


def test_a_rank_that_calls_torchrun_itself_is_left_alone(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "torchrun").write_text(SHOW)
    out, _err = started(tmp_path, archive, [sys.executable, str(tmp_path / "torchrun"), "--nnodes=1", "x"], RANK="9")
    assert '"--nnodes=1"' in out

"""What `hedgerow check` says about commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.cli.check_parts import command
from hedgerow_operator.cli.launching import launch_of
from tests.unit.cli.check_builders import all_told, local, manifest, spec_of, told


def said(words: list[str], **spec: Any) -> list[str]:
    """What is said that is not fine."""
    judged = spec_of(manifest(words, **spec))
    return told(command.findings(judged, launch_of(judged)))


# command line, fields of spec: the beginning of each sentence that is not fine
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "one rank's program": ("python train.py", {}, []),
    "torchrun": ("torchrun train.py", {"ranksPerWorker": 8}, []),
    "torchrun with the job's own numbers": (
        "torchrun --nnodes=2 --nproc-per-node 8 train.py",
        {"workers": 2, "ranksPerWorker": 8},
        [],
    ),
    "torchrun with other numbers": (
        "torchrun --nnodes=4 --nproc_per_node=8 train.py",
        {"workers": 2, "ranksPerWorker": 4},
        [
            "warning: torchrun's --nnodes=4 --nproc_per_node=8 give way to workers, ranksPerWorker and Hedgerow's "
            "restarts; nnodes is 4 there and 2 here, nproc_per_node is 8 there and 4 here: change"
        ],
    ),
    "accelerate with the number of all ranks": (
        "accelerate launch --num_processes 16 train.py",
        {"workers": 2, "ranksPerWorker": 8},
        [],
    ),
    "a number that only the shell knows": ("bash -c 'torchrun --nnodes=$N train.py'", {"workers": 2}, []),
    "a script in the image": (
        "bash train.sh --lr 1",
        {},
        ["warning: train.sh cannot be looked into from here"],
    ),
    "a script of which the mode is written": ("./run.sh", {"processes": "PerWorker", "ranksPerWorker": 8}, []),
    "a program that starts ranks itself": (
        "uv run llamafactory-cli train x.yaml",
        {"ranksPerWorker": 8},
        ["warning: llamafactory-cli starts ranks by itself, and is started once for each of 8 ranks; write processes"],
    ),
    "such a program, started once": (
        "mpirun -np 8 python train.py",
        {"ranksPerWorker": 8, "processes": "PerWorker"},
        [],
    ),
    "started once, and nothing starts the ranks": (
        "python train.py",
        {"ranksPerWorker": 8, "processes": "PerWorker"},
        ["warning: processes: PerWorker starts it once in each worker, and nothing in it is known to start 8 ranks"],
    ),
    "a pipe that hides a failure": (
        "bash -c 'python train.py | tee log'",
        {},
        ["warning: the exit code of what stands before | is lost"],
    ),
    "a pipe that does not": ("bash -c 'set -o pipefail; python train.py | tee log'", {}, []),
    "an alternative is no pipe": ("bash -c 'python train.py || exit 3'", {}, []),
    "the shell's words without a shell": (
        "cd /x && python train.py",
        {},
        ['warning: no shell reads "&&" here; write [bash, -c, "…"]'],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_said_of(case: str) -> None:
    line, spec, want = CASES[case]
    got = said(shlex.split(line), **spec)
    assert len(got) == len(want), got
    assert [sentence for sentence, begin in zip(got, want, strict=True) if not sentence.startswith(begin)] == []


def test_a_command_in_one_word_is_an_error_that_shows_the_words() -> None:
    (sentence,) = said(["python train.py --lr 1"])
    assert sentence.startswith('error: "python train.py --lr 1" would be the name of one program; write the words')
    assert sentence.endswith("[python, train.py, --lr, 1]")


def test_what_is_fine_names_the_mode_and_how_often_it_is_started() -> None:
    judged = spec_of(manifest(["torchrun", "a.py"], workers=2, ranksPerWorker=8))
    (sentence,) = all_told(command.findings(judged, launch_of(judged)))
    assert sentence == "fine: PerWorker, torchrun starts the ranks itself: it is started 2 times for 16 ranks"


@pytest.mark.parametrize(("text", "mode"), [("exec torchrun a.py", "PerWorker"), ("exec python a.py", "PerRank")])
def test_a_script_of_this_machine_is_looked_into(tmp_path: Path, text: str, mode: str) -> None:
    (tmp_path / "train.sh").write_text(text)
    launch = launch_of(spec_of(local(["bash", "train.sh"])), tmp_path)
    assert launch.processes == mode

"""The launcher's options, and one sentence for each kind of bad input."""

from __future__ import annotations

import pytest

from hedgerow import wire
from hedgerow.options import Options, UsageError, parse
from hedgerow.rank_environment import rank_environment

RUN = ["--", "python", "train.py"]
JOB = {"HEDGEROW_JOB_UID": "u", "HEDGEROW_REPORT_URL": "http://operator:8080"}


def test_defaults() -> None:
    assert parse(RUN, {}) == Options(("python", "train.py"))


def test_the_command_line_comes_before_the_environment() -> None:
    options = parse(["--nproc-per-worker", "2", *RUN], {"HEDGEROW_NPROC": "8", "HEDGEROW_GRACE_SECONDS": "4.5"})
    assert (options.nproc, options.grace_seconds) == (2, 4.5)


def test_kubernetes_numbers_the_worker() -> None:
    assert parse(RUN, {**JOB, "JOB_COMPLETION_INDEX": "3", "HEDGEROW_WORKERS": "4"}).worker == 3


def test_what_follows_the_dashes_is_the_users() -> None:
    assert parse(["--", "sh", "--", "--worker", "x"], {}).command == ("sh", "--", "--worker", "x")


def test_how_the_ranks_are_started_is_read_as_a_manifest_writes_it_too() -> None:
    assert parse(RUN, {"HEDGEROW_PROCESSES": "PerWorker"}).processes == "per-worker"
    assert parse(["--processes", "per-rank", "--", "torchrun", "x.py"], {}).processes == "per-rank"
    assert parse(["--", "torchrun", "x.py"], {}).processes == "per-worker"


BAD: dict[str, tuple[list[str], dict[str, str], str]] = {
    "no command": ([], {}, "there is no command; write it after `--`, as in `hedgerow run -- python train.py`"),
    "no number": (RUN, {"HEDGEROW_NPROC": "x"}, "HEDGEROW_NPROC is 'x'; write a number"),
    "no ranks": (["--nproc-per-worker", "0", *RUN], {}, "--nproc-per-worker is 0; write a number of at least 1"),
    "a negative time": (
        RUN,
        {"HEDGEROW_FENCE_SECONDS": "-1"},
        "HEDGEROW_FENCE_SECONDS is -1; write a number of at least 0",
    ),
    "not a number of seconds": (
        RUN,
        {"HEDGEROW_FENCE_SECONDS": "nan"},
        "HEDGEROW_FENCE_SECONDS is nan; write a number of at least 0",
    ),
    "not one of the words": (
        RUN,
        {"HEDGEROW_CHECKPOINT_VERIFY": "all"},
        "HEDGEROW_CHECKPOINT_VERIFY is 'all'; write one of Content, Size, Markers",
    ),
    "not a way to start ranks": (
        ["--processes", "per-node", *RUN],
        {},
        "--processes is 'per-node'; write one of per-rank, per-worker",
    ),
    "a worker beyond the last": (
        ["--worker", "2", "--workers", "2", *RUN],
        JOB,
        "this is worker 2 of 2; write --worker (or HEDGEROW_WORKER) from 0 to 1",
    ),
    "several workers without an operator": (
        ["--workers", "2", *RUN],
        {},
        "2 workers need an operator that brings them together; give --report-url, or run one worker",
    ),
    "reports about no job": (
        ["--report-url", "http://x", *RUN],
        {},
        "HEDGEROW_JOB_UID is missing; set it to the uid of the job that is reported",
    ),
    "an unknown option": (
        ["--fast", *RUN],
        {},
        "unrecognized arguments: --fast; write `hedgerow run [OPTIONS] -- COMMAND`, `hedgerow run --help` lists them",
    ),
    "no such port": (
        ["--master-port", "70000", *RUN],
        {},
        "--master-port is 70000; write a port from 1 to 65535, or 0",
    ),
}


@pytest.mark.parametrize(("arguments", "variables", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_told_in_one_sentence(arguments: list[str], variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as told:
        parse(arguments, variables)
    assert str(told.value) == sentence


START = wire.Command(wire.COMMAND_START, 5, master_address="10.0.0.1", master_port=29000)
INHERITED: dict[str, tuple[dict[str, str], dict[str, str | None]]] = {
    "the user's path comes after ours": ({"PYTHONPATH": "/a:/b"}, {"PYTHONPATH": "/z/hedgerow/inject:/z:/a:/b"}),
    "no empty entry in the path": ({"PYTHONPATH": ""}, {"PYTHONPATH": "/z/hedgerow/inject:/z"}),
    "the user's buffering stays": ({"PYTHONUNBUFFERED": ""}, {"PYTHONUNBUFFERED": ""}),
    "the launcher's token is not the rank's": ({"HEDGEROW_TOKEN_FILE": "/t"}, {"HEDGEROW_TOKEN_FILE": None}),
    "an old place in a world is replaced": ({"RANK": "9", "WORLD_SIZE": "99"}, {"RANK": "7", "WORLD_SIZE": "12"}),
    "an old checkpoint is no checkpoint": ({"HEDGEROW_RESUME_FROM": "/old"}, {"HEDGEROW_RESUME_FROM": None}),
}


@pytest.mark.parametrize(("inherited", "expected"), INHERITED.values(), ids=INHERITED.keys())
def test_a_rank_inherits(inherited: dict[str, str], expected: dict[str, str | None]) -> None:
    options = Options(("python",), nproc=4, worker=1, workers=3)
    variables = rank_environment(options, START, 3, {}, "/z", inherited)
    assert {name: variables.get(name) for name in expected} == expected

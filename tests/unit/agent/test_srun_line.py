"""The launcher is put before the program of a line of srun, and nothing else of the line changes."""

from __future__ import annotations

import pytest

from hedgerow.slurm import srun_options
from hedgerow.slurm.srun_line import program_of, why_not, with_launcher

JOB = {"SLURM_JOB_ID": "7"}
LAUNCHER = ("python3.9", "launcher", "--")

# Words of a line, and those of its program.
PROGRAMS = {
    "no options": ("python train.py", "python train.py"),
    "options of the program are its own": ("-N2 python -n 4 --pty", "python -n 4 --pty"),
    "a letter with its value attached": ("-N2 -n4 python", "python"),
    "a letter with its value as a word": ("-N 2 -n 4 python", "python"),
    "letters in one word": ("-lu python", "python"),
    "letters in one word, of which the last has a value": ("-lun 4 python", "python"),
    "letters in one word, of which the last has its value attached": ("-lun4 python", "python"),
    "a letter that may have a value takes no word": ("-K python", "python"),
    "a letter that may have a value has it attached": ("-K0 -I30 python", "python"),
    "a long option with =": ("--ntasks=4 python", "python"),
    "a long option with a word": ("--ntasks 4 python", "python"),
    "a long option that may have a value takes no word": ("--exclusive python", "python"),
    "a long option without a value": ("--label --overlap python", "python"),
    "a long option cut short": ("--ntasks-per-n 2 --unbuf python", "python"),
    "two dashes end the options": ("-n 4 -- python -x", "python -x"),
    "a value that looks like an option": ("-x -n python", "python"),
    "a container": ("--container-image=/img --container-mounts /data:/data python", "python"),
    "a negative value": ("--nice=-5 python", "python"),
    "no program": ("-N2 --label", ""),
    "an option that nobody knows": ("--of-a-plugin python", ""),
}


@pytest.mark.parametrize(("line", "program"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_program_begins_where_the_options_of_srun_end(line: str, program: str) -> None:
    assert program_of(line.split()) == program.split()


@pytest.mark.parametrize(
    ("line", "program"), [case for case in PROGRAMS.values() if case[1]], ids=[k for k, c in PROGRAMS.items() if c[1]]
)
def test_every_word_stays_and_keeps_its_order(line: str, program: str) -> None:
    words = with_launcher(line.split(), LAUNCHER, JOB)
    before = len(line.split()) - len(program.split())
    rest = [word for word in words if word != "--unbuffered" or "--unbuffered" in line]
    launcher = list(LAUNCHER)
    if "--container" in line:
        launcher[0] = "python3"
    assert rest == line.split()[:before] + launcher + program.split()


UNCHANGED = {
    "no program": "-N2",
    "help": "--help",
    "the version": "-V",
    "a test": "--test-only python",
    "a terminal": "--pty bash",
    "a terminal, cut short": "--pt bash",
    "a step in another job": "--jobid=8 python",
    "programs by rank": "--multi-prog conf",
    "a program that is sent to the nodes": "--bcast=/tmp/x ./program",
    "several programs": "-n1 ./one : -n2 ./two",
    "an option that nobody knows": "--of-a-plugin x python",
}


@pytest.mark.parametrize("line", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_a_line_is_left_as_it_is_when_it_asks_for(line: str) -> None:
    assert with_launcher(line.split(), LAUNCHER, JOB) == line.split()
    assert why_not(line.split(), JOB)


def test_a_line_outside_of_a_job_is_left_as_it_is() -> None:
    assert with_launcher(["python"], LAUNCHER, {}) == ["python"]


def test_a_step_of_the_own_job_may_be_named() -> None:
    assert with_launcher(["--jobid=7", "a"], LAUNCHER, JOB) == ["--unbuffered", "--jobid=7", *LAUNCHER, "a"]


def test_unbuffered_is_not_written_twice() -> None:
    for line in (["-u", "a"], ["-lu", "a"], ["--unbuffered", "a"]):
        assert with_launcher(line, LAUNCHER, JOB) == [*line[:-1], *LAUNCHER, "a"]


MPI = {
    "by the line": (["--mpi=pmi2", "a"], {}, ["--mpi", "pmi2"]),
    "by the line, as a word": (["--mpi", "pmix", "a"], {}, ["--mpi", "pmix"]),
    "by sbatch": (["a"], {"SLURM_MPI_TYPE": "pmi2"}, ["--mpi", "pmi2"]),
    "not at all": (["--mpi=none", "a"], {"SLURM_MPI_TYPE": "pmi2"}, []),
}


@pytest.mark.parametrize(("line", "more", "told"), MPI.values(), ids=MPI.keys())
def test_the_launcher_is_told_of_mpi_that_somebody_asked_for(
    line: list[str], more: dict[str, str], told: list[str]
) -> None:
    words = with_launcher(line, LAUNCHER, {**JOB, **more})
    assert words == ["--unbuffered", *line[:-1], "python3.9", "launcher", *told, "--", "a"]


MOUNTS = {
    "with mounts of its own": (
        ["--container-image=i", "--container-mounts=/d:/d", "a"],
        ["--unbuffered", "--container-image=i", "--container-mounts=/d:/d,/h:/h,/t:/t"],
    ),
    "with mounts as a word": (
        ["--container-image", "i", "--container-mounts", "/d:/d", "a"],
        ["--unbuffered", "--container-image", "i", "--container-mounts", "/d:/d,/h:/h,/t:/t"],
    ),
    "without mounts": (
        ["--container-image=i", "a"],
        ["--unbuffered", "--container-mounts=/h:/h,/t:/t", "--container-image=i"],
    ),
    "by the name of one that is there": (
        ["--container-name=n", "a"],
        ["--unbuffered", "--container-mounts=/h:/h,/t:/t", "--container-name=n"],
    ),
}


@pytest.mark.parametrize(("line", "before"), MOUNTS.values(), ids=MOUNTS.keys())
def test_our_folders_are_mounted_into_a_container(line: list[str], before: list[str]) -> None:
    words = with_launcher(line, LAUNCHER, JOB, ["/h", "/t"])
    assert words == [*before, "python3", *LAUNCHER[1:], "a"]


OURS = {"HEDGEROW_B": "2", "HEDGEROW_A": "1", "OTHER": "3"}
EXPORTS = {
    "all": ({}, ["--export=ALL", "a"], "--export=ALL"),
    "all and more": ({}, ["--export=ALL,X=1", "a"], "--export=ALL,X=1"),
    "some": ({}, ["--export=X,Y=1", "a"], "--export=X,Y=1,HEDGEROW_A,HEDGEROW_B"),
    "none": ({}, ["--export=NONE", "a"], "--export=HEDGEROW_A,HEDGEROW_B"),
    "none by sbatch": ({"SLURM_EXPORT_ENV": "NONE"}, ["a"], "--export=HEDGEROW_A,HEDGEROW_B"),
    "some by sbatch": ({"SLURM_EXPORT_ENV": "X"}, ["a"], "--export=X,HEDGEROW_A,HEDGEROW_B"),
    "all by sbatch": ({"SLURM_EXPORT_ENV": "ALL"}, ["a"], None),
    "nothing said": ({}, ["a"], None),
}


@pytest.mark.parametrize(("more", "line", "export"), EXPORTS.values(), ids=EXPORTS.keys())
def test_our_variables_reach_the_tasks_where_the_line_exports(
    more: dict[str, str], line: list[str], export: str | None
) -> None:
    words = with_launcher(line, LAUNCHER, {**JOB, **OURS, **more})
    assert [word for word in words if word.startswith("--export")] == ([] if export is None else [export])


HELP = """
Usage: srun [OPTIONS(0)... [executable(0) [args(0)...]]] [ : [OPTIONS(N)...]] executable(N) [args(N)...]
  -A, --account=name          charge job to specified account
  -I, --immediate[=secs]      exit if resources not available in "secs"
Options provided by plugins:
      --site-speed=value      a plugin's
      --site-quiet            a plugin's
      --site-level[=n]        a plugin's
"""


def test_options_of_plugins_are_learned_from_what_srun_says_of_itself() -> None:
    more = srun_options.learned(HELP)
    assert more["site-speed"] == srun_options.HAS_VALUE
    line = ["--site-speed", "3", "--site-level", "--site-quiet", "python"]
    assert program_of(line) == []
    assert program_of(line, more) == ["python"]
    assert with_launcher(line, LAUNCHER, JOB, (), more)[-4:] == [*LAUNCHER, "python"]

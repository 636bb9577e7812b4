"""What the helpers behind `make test` and `make bench` decide."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


def tool(name: str) -> ModuleType:
    """Load a module of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).resolve().parents[3] / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run_tests = tool("run_tests")
run_benchmarks = tool("run_benchmarks")
FOLDERS = ["cluster", "local", "slurm", "unit"]

PARTS = {
    "nothing wanted means every folder, the clusters last": (
        [],
        [(["tests/local", "tests/unit"], ""), (["tests/cluster"], "cluster"), (["tests/slurm"], "slurm")],
    ),
    "all tests are every folder": (
        ["tests/"],
        [(["tests/local", "tests/unit"], ""), (["tests/cluster"], "cluster"), (["tests/slurm"], "slurm")],
    ),
    "a folder runs alone": (["tests/unit"], [(["tests/unit"], "")]),
    "a file below cluster runs in a cluster": (["tests/cluster/test_a.py"], [(["tests/cluster/test_a.py"], "cluster")]),
    "a file below slurm runs by itself": (["tests/slurm/test_a.py"], [(["tests/slurm/test_a.py"], "slurm")]),
    "a folder called slurm elsewhere is like any other": (["tests/unit/slurm"], [(["tests/unit/slurm"], "")]),
    "one test below cluster runs in a cluster": (
        ["./tests/cluster/a.py::test_b"],
        [(["./tests/cluster/a.py::test_b"], "cluster")],
    ),
    "a folder whose name only begins like cluster does not": (["tests/clusters"], [(["tests/clusters"], "")]),
    "options go to every part": (
        ["tests/unit", "tests/cluster", "-k", "a or b"],
        [(["tests/unit", "-k", "a or b"], ""), (["tests/cluster", "-k", "a or b"], "cluster")],
    ),
    "options alone choose among all": (
        ["-x"],
        [
            (["tests/local", "tests/unit", "-x"], ""),
            (["tests/cluster", "-x"], "cluster"),
            (["tests/slurm", "-x"], "slurm"),
        ],
    ),
}


@pytest.mark.parametrize(("wanted", "answer"), PARTS.values(), ids=PARTS)
def test_the_wanted_tests_are_split_into_runs(wanted: list[str], answer: list[tuple[list[str], str]]) -> None:
    assert [tuple(part) for part in run_tests.parts(wanted, FOLDERS)] == answer


def test_tests_of_a_cluster_run_through_the_testbed_and_one_after_the_other() -> None:
    command = run_tests.command(run_tests.Part(["tests/cluster"], "cluster"), processors=8)
    assert command[1:5] == ["-m", "tests.cluster.testbed", "run", "--"]
    assert "-n" not in command


def test_tests_of_slurm_have_a_cluster_for_each_worker() -> None:
    command = run_tests.command(run_tests.Part(["tests/slurm"], "slurm"), processors=8)
    assert command[command.index("-n") + 1] == str(run_tests.SLURMS)
    assert "-n" not in run_tests.command(run_tests.Part(["tests/slurm/test_jobs.py"], "slurm"), processors=8)


def test_a_folder_of_other_tests_runs_on_all_processors_with_one_worker_more_for_those_that_wait() -> None:
    command = run_tests.command(run_tests.Part(["tests/unit"]), processors=8)
    assert command[command.index("-n") + 1] == "9"


@pytest.mark.parametrize("cluster", ["cluster", "slurm"])
def test_a_part_whose_preparation_fails_has_failed(cluster: str) -> None:
    assert not run_tests.run_all([run_tests.Part([f"tests/{cluster}"], cluster)], prepared=lambda cluster: False)


def test_a_path_without_a_test_has_failed() -> None:
    assert not run_tests.run_all([run_tests.Part(["tests/unit/project/sources.py"])])


def test_figures_come_from_the_last_line() -> None:
    figures = run_benchmarks.figures('{"name": "beats", "figures": {"ns": 812.3456, "ranks": 4}}')
    assert [tuple(figure) for figure in figures] == [("beats", "ns", "812.3"), ("beats", "ranks", "4")]


@pytest.mark.parametrize("line", ["", "done", "[]", "3", '{"name": "x"}', '{"name": "x", "figures": 3}'])
def test_a_benchmark_without_figures_is_told_what_its_last_line_must_be(line: str) -> None:
    with pytest.raises(run_benchmarks.BadBenchmarkError, match="its last line must be"):
        run_benchmarks.figures(line)


def test_a_benchmark_that_fails_after_its_figures_has_failed(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text('print(\'{"name": "x", "figures": {}}\'); raise SystemExit(3)')
    with pytest.raises(run_benchmarks.BadBenchmarkError, match="exited with 3"):
        run_benchmarks.measure(script, [])


def test_the_table_lines_up() -> None:
    rows = [run_benchmarks.Figure("recovery", "seconds", "1.2"), run_benchmarks.Figure("b", "p99_milliseconds", "7")]
    heading, first, second = run_benchmarks.table(rows).splitlines()
    assert heading.index("VALUE") == first.index("1.2") == second.index("7")


def test_a_python_that_is_too_old_is_refused_in_one_sentence(root: Path, tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    command = ["sh", "tools/virtualenv.sh", str(tmp_path / "venv")]
    result = subprocess.run(command, cwd=root, env={**os.environ, "PYTHON": str(old)}, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == (
        f"PYTHON={old} is not a Python of version 3.11 or newer: name one that is, or leave PYTHON away.\n"
    )


def test_an_environment_that_works_is_left_alone(root: Path) -> None:
    before = Path(sys.executable).lstat().st_mtime_ns
    subprocess.run(["sh", "tools/virtualenv.sh", str(Path(sys.executable).parent.parent)], cwd=root, check=True)
    assert Path(sys.executable).lstat().st_mtime_ns == before

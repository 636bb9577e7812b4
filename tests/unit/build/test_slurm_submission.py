"""What a placement asks of Slurm, and who starts its ranks."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.submission import lead_seconds, lines_left, submission
from hedgerow_operator.build.slurm.user_script import calls_srun, interpreter
from hedgerow_operator.core.slurm.sbatch_lines import BadLine
from tests.unit.build.slurm_examples import OWN_SRUN, PLACES, UID, slurm_job


def options(*, excluded: tuple[str, ...] = (), **slurm: Any) -> dict[str, str]:
    return dict(submission(slurm_job(**slurm), 3, excluded, PLACES).options)


def test_the_comment_says_whose_placement_it_is() -> None:
    made = submission(slurm_job(), 3, (), PLACES)
    assert (made.name, made.comment, made.directory) == ("llama", f"hedgerow:{UID}:3", "/")


def test_workers_are_nodes_and_ranks_are_tasks() -> None:
    assert options() == {
        "nodes": "2", "ntasks": "8", "ntasks-per-node": "4", "no-requeue": "", "signal": "TERM@60",
    }  # fmt: skip


def test_fields_and_options_of_the_manifest_are_passed_on() -> None:
    fields = {"partition": "gpu", "account": "ml", "qos": "high", "gres": "gpu:8", "timeLimit": "1-00"}
    found = options(options={"mem": "200G", "exclusive": "", "chdir": "/shared"}, **fields)
    assert found.items() >= {
        "partition": "gpu", "account": "ml", "qos": "high", "gres": "gpu:8", "time": "1-00", "mem": "200G",
        "exclusive": "",
    }.items()  # fmt: skip
    assert "chdir" not in found


def test_s20_what_ran_on_hardware_that_failed_is_kept_off_it_through_slurm() -> None:
    assert options(excluded=("n3", "n1"))["exclude"] == "n1,n3"


def test_a_job_that_is_put_back_keeps_its_number_and_its_output() -> None:
    found = options(resubmit="Requeue")
    assert (found["requeue"], found["open-mode"], "no-requeue" in found) == ("", "append", False)


def test_lines_of_the_script_count_below_the_manifest_and_those_that_it_decides_do_not() -> None:
    found = options(script=OWN_SRUN, account="paid")
    assert (found["mem"], found["account"], found["nodes"]) == ("100G", "paid", "2")
    assert options(script=OWN_SRUN)["account"] == "ml"
    assert lines_left(OWN_SRUN) == ("--nodes=4",)


def test_a_line_that_sbatch_would_refuse_is_named() -> None:
    with pytest.raises(BadLine, match='line 2: a " has no counterpart'):
        options(script='#!/bin/sh\n#SBATCH --comment="a\nsrun python train.py\n')


def test_several_kinds_of_nodes_are_refused() -> None:
    with pytest.raises(BadLine, match="heterogeneous job; write one kind of node"):
        options(script="#!/bin/sh\n#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\nsrun python train.py\n")


LEADS = {
    "grace and the slack of the controller": ({}, {}, 60),
    "a longer grace": ({"recovery": {"graceSeconds": 300}}, {}, 330),
    "half of a time limit that is shorter": ({}, {"timeLimit": "1"}, 30),
    "a time limit that is long": ({}, {"timeLimit": "2-00:00:00"}, 60),
    "no time limit": ({}, {"timeLimit": "UNLIMITED"}, 60),
}


@pytest.mark.parametrize(("spec", "slurm", "seconds"), LEADS.values(), ids=LEADS.keys())
def test_ranks_are_told_of_the_time_limit_before_it(spec: dict[str, Any], slurm: dict[str, Any], seconds: int) -> None:
    job = slurm_job(spec, **slurm)
    assert lead_seconds(job) == seconds
    assert submission(job, 1, (), PLACES).options["signal"] == f"TERM@{seconds}"


CALLS = {
    "at the beginning of a line": ("set -e\nsrun python train.py", True),
    "in the first line": ("srun -N2 python train.py", True),
    "by its path": ("/opt/slurm/bin/srun python train.py", True),
    "after variables": ("OMP_NUM_THREADS=4 srun python train.py", True),
    "after another command": ("cd /a && srun python train.py", True),
    "in a condition": ("if srun python train.py; then echo done; fi", True),
    "with a limit": ("timeout 3600 srun python train.py", True),
    "over several lines": ("srun \\\n  --unbuffered \\\n python train.py", True),
    "by a variable": ('LAUNCH="srun -n 8"\n$LAUNCH python train.py', True),
    "in a comment": ("# not by srun itself\npython train.py  # srun", False),
    "as a word that is printed": ("echo use srun here\npython train.py", False),
    "as part of another word": ("python srun_train.py --mode=no-srun", False),
    "not at all": ("torchrun train.py", False),
}


@pytest.mark.parametrize(("script", "calls"), CALLS.values(), ids=CALLS.keys())
def test_a_script_calls_srun(script: str, calls: bool) -> None:
    assert calls_srun(script) is calls
    ours = "srun --nodes=2" in submission(slurm_job(script=script), 1, (), PLACES).script
    assert ours is not calls


INTERPRETERS = {
    "a shell": ("#!/bin/sh\ntrue", ["/bin/sh"]),
    "one argument": ("#! /usr/bin/env -S bash -e \ntrue", ["/usr/bin/env", "-S bash -e"]),
    "none": ("python train.py", ["/bin/bash"]),
    "a comment": ("# train\npython train.py", ["/bin/bash"]),
}


@pytest.mark.parametrize(("script", "words"), INTERPRETERS.values(), ids=INTERPRETERS.keys())
def test_the_script_is_started_as_its_first_line_says(script: str, words: list[str]) -> None:
    assert interpreter(script) == words


@pytest.fixture
def nodes(tmp_path: Path) -> dict[str, str]:
    """The environment of a batch step on a machine whose srun and python3 only say what they were called with."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {
        "srun": '#!/bin/sh\nprintf "%s\\n" "$@"\nenv\n',
        "python3": '#!/bin/sh\n[ "$2" != -c ] || exit "$OLD"\nprintf "%s\\n" "$@"\n',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return {"PATH": f"{programs}:/bin", "SLURMD_NODENAME": "n1", "OLD": "0", "HEDGEROW_REPORT_URL": "of another job"}


def run(script: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash], input=script, env=environment, cwd=folder, text=True, capture_output=True, check=False
    )


def places(folder: Path) -> Places:
    return structs.replace(PLACES, directory=str(folder / "a placement"), archive=str(folder / "h.pyz"))


def test_the_script_starts_the_users_unchanged_on_every_node(nodes: dict[str, str], tmp_path: Path) -> None:
    users = "#!/bin/bash\necho \"$HOME\" 'it''s' \\\n  HEDGEROW_SCRIPT\nHEDGEROW_SCRIPT\nexit 3"
    done = run(submission(slurm_job(script=users), 1, (), places(tmp_path)).script, nodes, tmp_path)
    script = tmp_path / "a placement" / "script"
    assert script.read_text() == users + "\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o600
    words = done.stdout.splitlines()
    assert words[words.index("--") :][:3] == ["--", "/bin/bash", str(script)]
    assert "HEDGEROW_WORKERS=2" in words
    assert "HEDGEROW_REPORT_URL=of another job" not in words


def test_the_exit_code_is_that_of_srun(nodes: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin" / "srun").write_text("#!/bin/sh\nexit 7\n")
    assert run(submission(slurm_job(), 1, (), places(tmp_path)).script, nodes, tmp_path).returncode == 7


def test_a_node_without_a_python_that_fits_says_so(nodes: dict[str, str], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("mkdir", "cat", "mv"):
        (empty / name).symlink_to(shutil.which(name) or name)
    script = submission(slurm_job(), 1, (), places(tmp_path)).script.replace("/usr/bin/python3", "/none")
    done = run(script, {**nodes, "PATH": str(empty)}, tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "hedgerow: on n1: there is no python3 of 3.7 or later; name one in HEDGEROW_PYTHON where the job is submitted\n"
    )


def test_a_directory_that_cannot_be_made_is_named(nodes: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    there = structs.replace(PLACES, directory=str(tmp_path / "file" / "below"))
    done = run(submission(slurm_job(), 1, (), there).script, nodes, tmp_path)
    assert done.returncode == 1
    assert f"hedgerow: on n1: {tmp_path}/file/below cannot be made" in done.stderr


def test_files_that_are_carried_lie_there_for_their_owner_alone(nodes: dict[str, str], tmp_path: Path) -> None:
    data = os.urandom(1000)
    path = tmp_path / "the token"
    made = submission(slurm_job(), 1, (), structs.replace(places(tmp_path), carried={str(path): data}))
    run(made.script, nodes, tmp_path)
    assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert base64.b64encode(data).decode()[:70] in made.script


def test_each_run_of_a_requeued_job_begins_with_the_attempt_that_is_written_for_it(
    nodes: dict[str, str], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    runs.write_text("1\n4\n")
    made = submission(slurm_job(resubmit="Requeue"), 1, (), structs.replace(places(tmp_path), runs=str(runs)))
    assert "HEDGEROW_PLACEMENT=1" in run(made.script, nodes, tmp_path).stdout.splitlines()
    again = run(made.script, {**nodes, "SLURM_RESTART_COUNT": "1"}, tmp_path)
    assert "HEDGEROW_PLACEMENT=4" in again.stdout.splitlines()


def test_each_run_of_a_requeued_job_begins_with_the_attempt_that_its_comment_tells(
    nodes: dict[str, str], tmp_path: Path
) -> None:
    scontrol = Path(nodes["PATH"].split(":")[0]) / "scontrol"
    scontrol.write_text("#!/bin/sh\necho JobId=$3 JobName=llama\necho '   Comment=hedgerow:5a-1b:1:11=4'\n")
    scontrol.chmod(0o755)
    made = submission(slurm_job(resubmit="Requeue"), 1, (), structs.replace(places(tmp_path), runs_in_comment=True))
    assert "HEDGEROW_PLACEMENT=1" in run(made.script, nodes, tmp_path).stdout.splitlines()
    again = run(made.script, {**nodes, "SLURM_RESTART_COUNT": "11", "SLURM_JOB_ID": "7"}, tmp_path)
    assert "HEDGEROW_PLACEMENT=4" in again.stdout.splitlines()


@pytest.mark.parametrize(("mode", "told"), [(0o600, 0), (0o400, 0), (0o644, 1), (0o640, 1)])
def test_a_token_that_others_can_read_is_told_once(mode: int, told: int, nodes: dict[str, str], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a token\n")
    token.chmod(mode)
    made = submission(slurm_job(), 1, (), structs.replace(places(tmp_path), token_file=str(token)))
    printed = run(made.script, nodes, tmp_path).stderr
    assert printed.count(f"others can read {token}, to report for this job; chmod 600 {token}") == told

"""hedgerow sbatch --wait waits for the script, however many batch jobs that takes; squeue is a stand-in."""

from pathlib import Path

import pytest

from hedgerow_operator.cli.slurm import waiting
from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.core.slurm.chain import Chain, End

# Shows what is in the file "queue"; asked for the third time, things have gone on as in the folder "then".
SQUEUE = """#!/bin/sh
cd {folder}
echo x >> asked
if [ "$(wc -l < asked)" -eq 3 ]; then cp then/* .; fi
for word in "$@"; do
    case $word in --jobs=*) grep -x "${{word#--jobs=}}" queue ;; esac
done
true
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    (tmp_path / "bin").mkdir()
    (tmp_path / "then").mkdir()
    squeue = tmp_path / "bin/squeue"
    squeue.write_text(SQUEUE.format(folder=tmp_path))
    squeue.chmod(0o755)
    (tmp_path / "queue").write_text("8\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(waiting, "_LOOK_SECONDS", 0.01)
    return Folder(tmp_path)


def first(successor: str = "8") -> Chain:
    """The first batch job has handed over."""
    begun = Chain().begun("7").told(end=End.HANDED_OVER, exit_code=1)
    return Chain(runs=begun.runs, successor=successor)


def test_the_exit_code_is_that_of_the_script_in_the_end(folder: Folder) -> None:
    folder.write_chain(first())
    Folder(folder.path / "then").write_chain(first().begun("8").told(end=End.FAILED, exit_code=4))
    assert waiting.wait_for_end(folder, 75) == 4


def test_where_what_was_to_go_on_is_cancelled_nobody_waits_for_it(folder: Folder) -> None:
    folder.write_chain(first())
    (folder.path / "then/queue").write_text("")
    assert waiting.wait_for_end(folder, 75) == 75


def test_a_script_that_has_ended_needs_no_waiting(folder: Folder) -> None:
    folder.write_chain(Chain().begun("7").told(end=End.SUCCEEDED))
    assert waiting.wait_for_end(folder, 0) == 0
    assert not (folder.path / "asked").exists()


def test_a_batch_job_without_a_supervisor_has_its_own_exit_code(folder: Folder) -> None:
    assert waiting.wait_for_end(folder, 3) == 3

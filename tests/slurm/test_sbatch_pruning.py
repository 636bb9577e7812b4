"""What a real squeue lists keeps the folder of a submission by hedgerow sbatch, however old it is."""

from pathlib import Path

import pytest

from hedgerow_operator.cli.slurm.pruning import MOST_SECONDS, prune
from hedgerow_operator.core.slurm.sbatch_plan import comment_of
from tests.slurm.testbed.testbed import Testbed


def test_a_folder_goes_only_once_neither_its_number_nor_its_comment_is_listed(
    fresh_slurm: Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in fresh_slurm.environment.items():
        monkeypatch.setenv(name, value)
    folders = [tmp_path / f"20260101-000000-00000{number}" for number in range(3)]
    for folder in folders:
        folder.mkdir()
    words = ["sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap=true"]
    (tmp_path / fresh_slurm.run(words)).symlink_to(folders[0].name)
    fresh_slurm.run([*words, f"--comment={comment_of(folders[1].name)}"])
    prune(tmp_path, folders[0].stat().st_mtime + MOST_SECONDS + 60)
    assert [folder.exists() for folder in folders] == [True, True, False]

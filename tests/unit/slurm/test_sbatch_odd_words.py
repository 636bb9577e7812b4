"""hedgerow sbatch with words that cannot be written down as text: sbatch takes them, and so do we."""

from pathlib import Path

import pytest

from hedgerow_operator.cli.slurm import submission


def test_words_that_are_no_utf8_are_submitted_as_they_are_and_said_to_be_unwatched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/sh\nsrun train\n")
    submitted: list[list[str]] = []

    def become(words: list[str]) -> int:
        submitted.append(words)
        return 0

    monkeypatch.setattr(submission, "_become", become)
    monkeypatch.delenv("HEDGEROW", raising=False)
    state = tmp_path / "state"
    assert submission.sbatch([f"--state-dir={state}", str(script), "run-\udcff"]) == 0
    assert (submitted, state.exists()) == ([[str(script), "run-\udcff"]], False)
    assert "no UTF-8 is submitted as by sbatch, and not looked after" in capsys.readouterr().err

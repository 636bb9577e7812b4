"""State directories that nobody can read, or in which somebody has written: a sentence each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from hedgerow_operator.cli.ps import list_jobs
from hedgerow_operator.cli.stop import stop_jobs

KINDS = {
    "InferenceEndpoint": "{protocol: HTTP, providers: [{name: a, providerRef: {name: a}}]}",
    "TrainingJob": "{workers: 1, ranksPerWorker: 1, local: {command: [train]}}",
}


@pytest.mark.parametrize("ask", [lambda path: list_jobs(path, None), lambda path: stop_jobs(None, path)])
def test_one_that_cannot_be_looked_at_is_told_as_one_that_is_not_there(
    ask: Callable[[Path], object], tmp_path: Path
) -> None:
    with pytest.raises(click.ClickException, match="there is no state directory"):
        ask(tmp_path / ("long" * 100))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", [None, "json"])
def test_an_object_whose_time_is_none_is_damaged(kind: str, output: str | None, tmp_path: Path) -> None:
    path = tmp_path / "default" / kind / "odd.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"apiVersion: hedgerow.dev/v1alpha1\nkind: {kind}\nspec: {KINDS[kind]}\n"
        "metadata: {name: odd, namespace: default, uid: a-b, creationTimestamp: tomorrow}\n"
    )
    with pytest.raises(click.ClickException, match=r"is damaged .*tomorrow"):
        list_jobs(tmp_path, output)

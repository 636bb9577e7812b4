"""The good and the bad manifests that the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

from hedgerow_operator.api.manifests import Manifests, Source, parse_manifests

GOOD = {path.stem: path for path in sorted((Path(__file__).parent / "good_manifests").glob("*.yaml"))}

HEAD = "apiVersion: hedgerow.dev/v1alpha1\nkind: TrainingJob\n"
MINIMAL = HEAD + "metadata: {name: %s}\nspec: {workers: 1, ranksPerWorker: 1, local: {command: [python, train.py]}}\n"


def parse(text: str, name: str = "jobs.yaml") -> Manifests:
    """What is found in one text."""
    return parse_manifests([Source(name, text, Path("/somewhere"))])

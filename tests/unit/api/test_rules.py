"""Each rule means the same to the API server (CEL) and to a run without one (Python)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cel
import pytest

from hedgerow_operator.api.rule import Rule
from hedgerow_operator.api.rules import RULES
from hedgerow_operator.api.slurm_options import OWNED
from hedgerow_operator.api.structure import structure_problems, without_nulls
from hedgerow_operator.api.training_job import TrainingJob, training_job, training_job_fields
from hedgerow_operator.api.validate import manifest_schema, value_at
from hedgerow_operator.api.yaml_text import read_documents
from tests.cluster.bad_manifests import bad_manifests
from tests.unit.api.manifests_of_tests import GOOD

BAD = {name: case.path for name, case in bad_manifests().items()}


def well_formed(paths: dict[str, Path]) -> Iterator[tuple[str, TrainingJob]]:
    """The jobs that the schema lets through, so that rules are asked about them."""
    for name, path in paths.items():
        (document,) = read_documents(path.read_text(encoding="utf-8"))
        fields = without_nulls(document.fields, manifest_schema())
        if not list(structure_problems(fields, manifest_schema())):
            yield name, training_job(fields)


def with_options_of_fields() -> Iterator[tuple[str, TrainingJob]]:
    """Jobs with one option of sbatch each that another field says."""
    for _instead, (option, *_) in OWNED:
        slurm = {"script": "python train.py", "options": {option: ""}}
        fields = {"metadata": {"name": "a"}, "spec": {"workers": 1, "ranksPerWorker": 1, "slurm": slurm}}
        yield f"slurm-option-{option}", training_job(fields)


JOBS = dict(well_formed(GOOD)) | dict(well_formed(BAD)) | dict(with_options_of_fields())
DEFAULTED = {name: training_job_fields(job) for name, job in JOBS.items()}
IDS = [f"{rule.place}: {rule.message[:40]}" for rule in RULES]


def by_cel(rule: Rule, value: Any) -> bool | None:
    """What CEL says of a defaulted object; None where it has no such part."""
    for name in filter(None, rule.at.split(".")):
        if name not in value:
            return None
        value = value[name]
    result = cel.evaluate(rule.cel, {"self": value})
    assert isinstance(result, bool)
    return result


def by_python(rule: Rule, job: TrainingJob) -> bool | None:
    value = value_at(job, rule.at)
    return None if value is None else rule.holds(value)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_cel_and_python_agree_on_every_manifest(rule: Rule) -> None:
    assert {name: by_cel(rule, fields) for name, fields in DEFAULTED.items()} == {
        name: by_python(rule, job) for name, job in JOBS.items()
    }


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_some_manifest_breaks_the_rule(rule: Rule) -> None:
    assert any(by_python(rule, job) is False for job in JOBS.values())


def test_no_good_manifest_breaks_a_rule() -> None:
    broken = [(name, rule.message) for name in GOOD for rule in RULES if by_python(rule, JOBS[name]) is False]
    assert broken == []

"""Without a server a bad manifest gets the same helpful sentence as from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow_operator.api.manifests import load_manifests
from tests.cluster.bad_manifests import BadManifest, bad_manifests
from tests.unit.api.manifests_of_tests import GOOD

BAD = bad_manifests()


def test_there_are_at_least_25() -> None:
    assert len(BAD) >= 25


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_one_sentence_names_file_and_line_and_says_what_to_write(case: BadManifest) -> None:
    found = load_manifests(str(case.path))
    assert found.jobs == ()
    (error,) = found.errors
    assert error.where.startswith(f"{case.path}:")
    assert error.where.rsplit(":", 1)[1].isdigit()
    for text in case.expected:
        assert text in str(error)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_manifest_passes(name: str) -> None:
    found = load_manifests(str(GOOD[name]))
    assert found.errors == ()
    assert len(found.jobs) == 1


HALVES = {
    "in a value": ('command: [python, "\\ud800"]', "spec.local.command[1]"),
    "in a name": ('command: [python], "\\udc00": 1', "spec.local"),
}


@pytest.mark.parametrize(("local", "place"), HALVES.values(), ids=HALVES.keys())
def test_half_a_character_is_named(local: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    text = GOOD["local-minimal"].read_text(encoding="utf-8")
    path.write_text(text[: text.index("  local:")] + f"  local: {{{local}}}\n", encoding="utf-8")
    (error,) = load_manifests(str(path)).errors
    assert f"{place}: " in str(error)
    assert "only halves of a character" in str(error)


def test_a_pattern_that_is_no_expression_is_named_without_a_server(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    text = GOOD["local-everything"].read_text(encoding="utf-8")
    path.write_text(text.replace(r"(?P<loss>\S+)", r"(?P<loss>\S+"), encoding="utf-8")
    (error,) = load_manifests(str(path)).errors
    assert "spec.heartbeat.logPattern: the log pattern is no regular expression: missing )" in str(error)


def test_a_kind_that_the_operator_reads_is_not_denied(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("apiVersion: hedgerow.dev/v1alpha1\nkind: SlurmCluster\nmetadata: {name: hpc}\n", encoding="utf-8")
    (error,) = load_manifests(str(path)).errors
    assert (
        "kind: only kind: TrainingJob is read here; a SlurmCluster is the operator's: give it to kubectl apply"
        in str(error)
    )

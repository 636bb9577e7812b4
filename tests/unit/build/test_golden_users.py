"""Command lines that people already run, rendered: how often each is started, the ranks, and how it resumes.

tests/golden/users/NAME.yaml is a manifest, NAME.txt what was reviewed. After a wanted change:
``python -m tests.unit.build.test_golden_users`` writes the latter anew; review the difference.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate import validate

from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.api.yaml_text import read_documents
from hedgerow_operator.cli.render import rendered
from tests.unit.build.examples import INJECTION

USERS = Path(__file__).parents[2] / "golden" / "users"
NAMES = sorted(path.stem for path in USERS.glob("*.yaml"))


def whole(name: str) -> tuple[str, Any]:
    """The comment lines of what is rendered, and the object below them."""
    manifests = load_manifests(str(USERS / f"{name}.yaml"))
    assert manifests.errors == ()
    (found,) = manifests.jobs
    text = rendered(found, INJECTION, StatePaths(Path("/state")))
    (document,) = read_documents(text)
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("#")), document.fields


def reviewed(name: str) -> str:
    """What a golden file has: the comment lines, and the words that the launcher is given."""
    header, fields = whole(name)
    if fields.get("kind") == "Job":
        containers = fields["spec"]["template"]["spec"]["containers"]
        (wrapped,) = (entry for entry in containers if "/hedgerow/hedgerow.pyz" in entry["command"])
        words = [*wrapped["command"], *wrapped.get("args", [])]
    else:
        words = fields["processes"][0]["command"]
    behind = words[words.index("--", words.index("run")) + 1 :]
    return header + "".join(f"{word}\n" for word in ["hedgerow run --", *(repr(word) for word in behind)])


def test_there_are_at_least_twenty() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_the_launch_is_the_reviewed_one(name: str) -> None:
    assert reviewed(name) == (USERS / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_job_obeys_the_schema_of_kubernetes(name: str) -> None:
    _header, fields = whole(name)
    if fields.get("kind") == "Job":
        validate(fields, "1.34", strict=True)
    else:
        assert [process["worker"] for process in fields["processes"]] == list(range(len(fields["processes"])))


if __name__ == "__main__":
    for user in NAMES:
        (USERS / f"{user}.txt").write_text(reviewed(user))

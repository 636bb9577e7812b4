"""What the documents tell a reader to run or to open exists."""

import re
from pathlib import Path

import pytest

DOCUMENTS = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/ARCHITECTURE.md", "docs/gpu.md",
    "examples/pytorch-ddp/README.md",
)  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_that_a_document_names_exists(root: Path, document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^|\$ )make ([a-z-]+)", (root / document).read_text(), re.MULTILINE))
    assert named - targets == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_relative_link_of_a_document_leads_to_a_file(root: Path, document: str) -> None:
    path = root / document
    links = re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_readme_names_the_commands_to_try_and_to_test_with(root: Path) -> None:
    text = (root / "README.md").read_text()
    assert [command for command in ("make demo", "make test") if command not in text] == []


def test_the_architecture_map_names_every_folder_of_the_operator(root: Path) -> None:
    package = root / "operator" / "hedgerow_operator"
    folders = {path.name for path in package.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    text = (root / "docs" / "ARCHITECTURE.md").read_text()
    assert [folder for folder in sorted(folders) if f"{folder}/" not in text] == []


def test_every_make_target_explains_itself(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert set(phony.split()) == set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))

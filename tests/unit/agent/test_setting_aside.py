"""What a script that takes the newest checkpoint by itself must not find is set aside, and can be put back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hedgerow.checkpoints import aside, aside_record, replace, trackers
from hedgerow.checkpoints.reader import Reader
from tests.unit.agent.checkpoint_trees import LEGACY_PICKLE, archive, content, safetensors, torn, write_tree

HF = "model.safetensors", "trainer_state.json"
TORN = torn(archive())


class Directory:
    """A checkpoint directory at rest, as a launcher looks at it."""

    def __init__(self, path: Path, files: dict[str, bytes]) -> None:
        self.path = path
        write_tree(path, files)
        self.reader = Reader(str(path))
        self.scan = self.reader.scan(quiet=True)
        self.reader.remember_rest()

    def clear(self, chosen: str | None, worker: int = 0) -> list[str]:
        path = None if chosen is None else str(self.path / chosen)
        return aside.set_aside(self.reader, str(self.path), path, self.scan.candidates, attempt=2, worker=worker)

    def names(self) -> set[str]:
        return {entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")}

    def text(self, name: str) -> str:
        return (self.path / name).read_text()

    def tree(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.path)): p.read_bytes() for p in self.path.rglob("*") if p.is_file()}


Make = Callable[[dict[str, bytes]], Directory]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda files: Directory(tmp_path / "checkpoints", files)


def trainer(step: int, whole: bool = True) -> dict[str, bytes]:
    return {f"checkpoint-{step}/{name}": content(name) for name in HF[: 2 if whole else 1]}


CASES: dict[str, tuple[dict[str, bytes], str | None, set[str], dict[str, str]]] = {
    "a torn file that is the newest": (
        {"step-10.npz": archive(), "step-20.npz": archive(), "step-30.npz": TORN},
        "step-20.npz",
        {"step-30.npz"},
        {},
    ),
    "a folder of the Trainer without its last file": (
        {**trainer(10), **trainer(20, whole=False)},
        "checkpoint-10",
        {"checkpoint-20"},
        {},
    ),
    "all shards of a step of which one is missing": (
        {"step-10.pt": archive(), "step-20-rank0of2.pt": archive()},
        "step-10.pt",
        {"step-20-rank0of2.pt"},
        {},
    ),
    "everything where there is nothing to start from": ({"ckpt_10.pt": TORN}, None, {"ckpt_10.pt"}, {}),
    "nothing older than the chosen one": (
        {"step-10.npz": TORN, "step-20.npz": archive()},
        "step-20.npz",
        set(),
        {},
    ),
    "nothing that is not verified": ({"step-10.npz": archive(), "step-20.pt": LEGACY_PICKLE}, "step-10.npz", set(), {}),
    "the newest by its name alone": (
        {"ckpt_10.pt": archive(), "ckpt.pt": TORN, "notes.pt": TORN},
        "ckpt_10.pt",
        {"ckpt.pt"},
        {},
    ),
    "a tracker with a name": (
        {
            "global_step10/model.safetensors": safetensors(),
            "global_step20/model.safetensors": torn(safetensors()),
            "latest": b"global_step20",
        },
        None,
        {"global_step20"},
        {"latest": "global_step10"},
    ),
    "a tracker with a number": (
        {"iter_0000010.pt": archive(), "iter_0000020.pt": TORN, "latest_checkpointed_iteration.txt": b"20\n"},
        "iter_0000010.pt",
        {"iter_0000020.pt"},
        {"latest_checkpointed_iteration.txt": "10\n"},
    ),
    "a tracker that names another stays": (
        {"step-10.npz": archive(), "step-20.npz": TORN, "latest": b"step-10.npz\n"},
        "step-10.npz",
        {"step-20.npz"},
        {"latest": "step-10.npz\n"},
    ),
    "a tracker with nothing to name": (
        {"step-3.npz": TORN, "latest": b"step-3.npz"},
        None,
        {"step-3.npz", "latest"},
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_set_aside_is(make: Make, name: str) -> None:
    files, chosen, gone, told = CASES[name]
    directory = make(files)
    before, tree = directory.names(), directory.tree()
    lines = directory.clear(chosen)
    assert directory.names() == before - gone | {f"{entry}.hedgerow-invalid" for entry in gone}
    assert {tracker: directory.text(tracker) for tracker in told} == told
    assert len(lines) == len(gone) + sum(f"names {text.strip()} now" in " ".join(lines) for text in told.values())
    assert directory.clear(chosen) == [], "it is done once"
    aside.restore(str(directory.path))
    assert directory.tree() == tree, "all is undone"


def test_each_line_says_what_and_why(make: Make) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN, "latest": b"step-30.npz"})
    at = directory.path
    assert directory.clear("step-10.npz") == [
        f"{at}/latest named step-30.npz, which is set aside; it names step-10.npz now",
        f"{at}/step-30.npz is set aside as step-30.npz.hedgerow-invalid: step-30.npz is torn: its end is missing",
    ]
    assert aside.restore(str(at)) == [f"{at}/step-30.npz is there again", f"{at}/latest names step-30.npz again"]
    assert aside.restore(str(at)) == []


def test_a_link_that_names_the_newest_is_made_to_name_the_chosen_one(make: Make) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN})
    os.symlink("step-30.npz", directory.path / "last.npz")
    directory.clear("step-10.npz")
    assert os.readlink(directory.path / "last.npz") == "step-10.npz"
    aside.restore(str(directory.path))
    assert os.readlink(directory.path / "last.npz") == "step-30.npz"


def test_what_changed_since_the_ranks_ended_is_somebodys_work_and_stays(make: Make) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN})
    (directory.path / "step-30.npz").write_bytes(TORN + b"more")
    (directory.path / "step-40.npz").write_bytes(TORN)
    directory.reader.scan(quiet=True)
    assert directory.clear("step-10.npz") == []
    assert directory.names() == {"step-10.npz", "step-30.npz", "step-40.npz"}


def test_of_two_launchers_one_does_it_and_both_go_on(make: Make, tmp_path: Path) -> None:
    first = make({"step-10.npz": archive(), "step-30.npz": TORN, "latest": b"step-30.npz"})
    second = Directory(first.path, {})
    plan = aside._plan(
        str(first.path),
        second.reader.newer_invalid(str(first.path / "step-10.npz")),
        aside._target(str(first.path / "step-10.npz"), []),
        2,
        1,
    )
    assert len(first.clear("step-10.npz")) == 2
    aside_record.write(str(first.path), plan)
    assert aside._carry_out(str(first.path), plan) == []
    assert first.names() == {"step-10.npz", "step-30.npz.hedgerow-invalid", "latest"}
    assert len(aside_record.read_all(str(first.path))) == 1


def test_a_step_that_is_torn_again_keeps_both(make: Make) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN, "step-30.npz.hedgerow-invalid": b"earlier"})
    directory.clear("step-10.npz")
    assert directory.text("step-30.npz.hedgerow-invalid") == "earlier"
    assert (directory.path / "step-30.npz.2.hedgerow-invalid").read_bytes() == TORN


def test_what_was_written_again_is_not_replaced_by_what_was_set_aside(make: Make) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN})
    directory.clear("step-10.npz")
    (directory.path / "step-30.npz").write_bytes(archive())
    kept = directory.path / "step-30.npz.hedgerow-invalid"
    assert aside.restore(str(directory.path)) == [f"{kept} stays: there is a newer step-30.npz"]
    assert directory.names() == {"step-10.npz", "step-30.npz", kept.name}


class Killed(BaseException):
    """Where a process is killed."""


CALLS = [(aside_record, "write_file"), (trackers, "write_file"), (os, "rename"), (replace, "sync_folder")]


@pytest.mark.parametrize("before", [True, False], ids=["before it", "after it"])
@pytest.mark.parametrize("at", range(5))
def test_a_kill_at_any_point_is_undone_or_finished(
    make: Make, monkeypatch: pytest.MonkeyPatch, at: int, before: bool
) -> None:
    files = {
        "step-10.pt": archive(),
        "step-30-rank0.pt": TORN,
        "step-30-rank1.pt": archive(),
        "latest": b"step-30-rank0.pt",
    }
    killed = make(files)
    tree = killed.tree()
    with monkeypatch.context() as patch:
        _kill(patch, at, before)
        with pytest.raises(Killed):
            killed.clear("step-10.pt")
    again = Directory(killed.path, {})
    assert [found.step for found in again.scan.candidates if found.validity == "Complete"] == [10]
    again.clear("step-10.pt")
    assert again.names() == {
        "step-10.pt",
        "step-30-rank0.pt.hedgerow-invalid",
        "step-30-rank1.pt.hedgerow-invalid",
        "latest",
    }
    assert again.text("latest") == "step-10.pt"
    aside.restore(str(again.path))
    assert again.tree() == tree


def _kill(patch: pytest.MonkeyPatch, at: int, before: bool) -> None:
    """Kill at call number ``at`` of those that change the directory."""
    count = [0]

    def deadly(call: Callable[..., None]) -> Callable[..., None]:
        def called(*arguments: object) -> None:
            number, count[0] = count[0], count[0] + 1
            if number == at and before:
                raise Killed
            call(*arguments)
            if number == at:
                raise Killed

        return called

    for owner, name in CALLS:
        patch.setattr(owner, name, deadly(getattr(owner, name)))


@pytest.mark.parametrize("at", range(4))
def test_a_restore_that_is_killed_is_finished_by_the_next(make: Make, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    directory = make({"step-10.pt": archive(), "step-20.pt": TORN, "step-30.pt": TORN, "latest": b"step-30.pt"})
    tree = directory.tree()
    directory.clear("step-10.pt")
    with monkeypatch.context() as patch:
        _kill(patch, at, before=True)
        with pytest.raises(Killed):
            aside.restore(str(directory.path))
    aside.restore(str(directory.path))
    assert directory.tree() == tree


@pytest.mark.parametrize("failing", ["write_file", "rename"])
def test_a_directory_that_cannot_be_changed_is_said_and_the_start_goes_on(
    make: Make, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    directory = make({"step-10.npz": archive(), "step-30.npz": TORN})

    def refuse(*_arguments: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(*((aside_record, failing) if failing == "write_file" else (os, failing)), refuse)
    (line,) = directory.clear("step-10.npz")
    assert line.startswith(f"{directory.path}/step-30.npz cannot be set aside (Read-only file system)")
    assert [path.name for path in directory.path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"version": 1, "time": 1, "moves": [{"name": "../x", "aside": "y.hedgerow-invalid"}], "namings": []}'],
)
def test_a_record_that_is_not_ours_is_refused_in_one_sentence(make: Make, text: str) -> None:
    directory = make({".hedgerow-aside-1-0-1.json": text.encode()})
    with pytest.raises(ValueError, match="is no record of this version of Hedgerow; remove it"):
        aside.restore(str(directory.path))

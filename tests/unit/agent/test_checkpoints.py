"""Which step is complete, which is proven invalid, and which nobody can vouch for."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from hedgerow import checkpoints
from hedgerow.checkpoints.contents import CHECKSUM_BYTES
from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, CHECKPOINT_NOT_VERIFIED, Checkpoint
from tests.unit.agent.checkpoint_trees import LEGACY_PICKLE, archive, safetensors, torn, write_tree

Z, S, J = archive(), safetensors(), b'{"global_step": 20}'
WHOLE, BAD, UNKNOWN = CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, CHECKPOINT_NOT_VERIFIED


def flipped(data: bytes) -> bytes:
    """One byte of the payload is another."""
    return data.replace(b"weights", b"weighty", 1)


TREES: dict[str, tuple[dict[str, bytes], dict[int, str]]] = {
    "zip archives": ({"step-10.pt": Z, "step-20.npz": Z, "step-30.ckpt": Z}, {30: WHOLE, 20: WHOLE, 10: WHOLE}),
    "a torn archive": ({"step-10.npz": Z, "step-20.npz": torn(Z)}, {20: BAD, 10: WHOLE}),
    "an archive with a wrong byte": ({"step-10.pt": flipped(Z)}, {10: BAD}),
    "an empty file": ({"step-10.pt": b""}, {10: BAD}),
    "a file of zeros": ({"step-10.pt": bytes(4096)}, {10: BAD}),
    "an .npz that is no archive": ({"step-10.npz": b"text"}, {10: BAD}),
    "a pickle is never opened": ({"step-10.pt": LEGACY_PICKLE}, {10: UNKNOWN}),
    "a format that is not known": ({"checkpoint_100": b"\x01\x02"}, {100: UNKNOWN}),
    "safetensors": ({"step-10.safetensors": S, "step-20.safetensors": torn(S)}, {20: BAD, 10: WHOLE}),
    "safetensors that end within the header": ({"step-10.safetensors": S[:5]}, {10: BAD}),
    "safetensors that are longer than they say": ({"step-10.safetensors": S + b"x"}, {10: BAD}),
    "names without a step": ({"last.ckpt": Z, "model.pt": Z, "model-00001-of-00002.safetensors": S}, {}),
    "logs and other files": ({"events.out.tfevents.17": b"x", "step-10.log": b"x", "step_10.json": J}, {}),
    "saves under way": (
        {"step-10.npz.tmp": Z, "tmp-checkpoint-20/x": b"x", ".step-30.npz": Z, "step-40.npz.part": Z},
        {},
    ),
    "what was set aside": ({"step-10.npz.hedgerow-invalid": Z, "checkpoint-20.hedgerow-invalid/x": Z}, {}),
    "a marker beside a file": ({"step-10.ckpt": Z, "step-10.ckpt-unfinished": b""}, {10: BAD}),
    "a marker beside a file, without its extension": ({"step=10.ckpt": Z, "step=10-unfinished": b""}, {10: BAD}),
    "a marker within a folder": ({"step_10/x": Z, "step_10/.in_progress": b""}, {10: BAD}),
    "shards": ({f"ckpt-40-rank{n}.npz": Z for n in range(4)}, {40: WHOLE}),
    "shards with a gap": ({f"ckpt-40-rank{n}.npz": Z for n in (0, 1, 3)}, {40: BAD}),
    "shards of which one is torn": ({"ckpt-40-rank0.npz": Z, "ckpt-40-rank1.npz": torn(Z)}, {40: BAD}),
    "shards that say how many they are": ({"ckpt-40.rank0-of-2.pt": Z}, {40: BAD}),
    "fewer shards than another step has": (
        {"ckpt-40-rank0.npz": Z, "ckpt-40-rank1.npz": Z, "ckpt-50-rank0.npz": Z},
        {50: UNKNOWN, 40: WHOLE},
    ),
    "model and optimizer": ({"model_10.pt": Z, "optimizer_10.pt": Z}, {10: WHOLE}),
    "model and torn optimizer": ({"model_10.pt": Z, "optimizer_10.pt": torn(Z)}, {10: BAD}),
    "a folder of unknown layout": (
        {"step-10/.metadata": b"x", "step-10/__0_0.distcp": b"x", "step-20/": b""},
        {20: UNKNOWN, 10: UNKNOWN},
    ),
    "a torn file of a known kind in a folder": (
        {"3/model.safetensors": S, "4/model.safetensors": torn(S)},
        {4: BAD, 3: UNKNOWN},
    ),
    "Trainer folders": (
        {"checkpoint-20/trainer_state.json": J, "checkpoint-20/model.safetensors": S, "checkpoint-20/optimizer.pt": Z},
        {20: WHOLE},
    ),
    "a Trainer folder without its last file": (
        {
            "checkpoint-20/trainer_state.json": J,
            "checkpoint-20/model.safetensors": S,
            "checkpoint-25/model.safetensors": S,
        },
        {25: BAD, 20: WHOLE},
    ),
    "a folder named like the Trainer's, of another program": ({"checkpoint-25/model.safetensors": S}, {25: UNKNOWN}),
    "a Trainer folder with a torn optimizer": (
        {
            "checkpoint-20/trainer_state.json": J,
            "checkpoint-20/model.safetensors": S,
            "checkpoint-20/optimizer.pt": torn(Z),
        },
        {20: BAD},
    ),
    "a Trainer folder whose state is cut off": (
        {"checkpoint-20/trainer_state.json": J[:5], "checkpoint-20/model.safetensors": S},
        {20: BAD},
    ),
    "a Trainer folder that lacks a piece of the model": (
        {
            "checkpoint-20/trainer_state.json": J,
            "checkpoint-20/model-00001-of-00002.safetensors": S,
            "checkpoint-20/model.safetensors.index.json": b'{"weight_map": {"a": "model-00001-of-00002.safetensors", '
            b'"b": "model-00002-of-00002.safetensors"}}',
        },
        {20: BAD},
    ),
    "a Trainer folder in which a rank has not saved": (
        {
            "checkpoint-20/trainer_state.json": J,
            "checkpoint-20/model.safetensors": S,
            "checkpoint-20/rng_state_1.pth": Z,
        },
        {20: BAD},
    ),
    "a Trainer folder with DeepSpeed shards": (
        {
            "checkpoint-20/trainer_state.json": J,
            "checkpoint-20/model.safetensors": S,
            "checkpoint-20/global_step20/x": b"x",
        },
        {20: UNKNOWN},
    ),
    "nothing": ({}, {}),
}


def judged(found: list[Checkpoint]) -> dict[int, str]:
    return {checkpoint.step: checkpoint.validity for checkpoint in found}


@pytest.mark.parametrize(("files", "expected"), TREES.values(), ids=TREES.keys())
def test_what_a_directory_holds(tmp_path: Path, files: dict[str, bytes], expected: dict[int, str]) -> None:
    write_tree(tmp_path, files)
    found = checkpoints.scan(str(tmp_path))
    assert found.error is None
    assert judged(found.candidates) == expected
    assert [c.step for c in found.candidates] == sorted(expected, reverse=True)
    assert all(bool(c.reason) != (c.validity == WHOLE) for c in found.candidates), "what is not complete says why"


VERIFY = {
    "Content looks into files": ("Content", {"step-10.npz": torn(Z), "step-20.npz": b""}, {20: BAD, 10: BAD}),
    "Size does not": ("Size", {"step-10.npz": torn(Z), "step-20.npz": b""}, {20: BAD, 10: WHOLE}),
    "Markers goes by names": (
        "Markers",
        {"step-10.npz": torn(Z), "step-20.npz": b"", "step-30.npz": Z, "step-30.npz-unfinished": b""},
        {30: BAD, 20: WHOLE, 10: WHOLE},
    ),
}


@pytest.mark.parametrize(("verify", "files", "expected"), VERIFY.values(), ids=VERIFY.keys())
def test_how_closely_it_looks(tmp_path: Path, verify: str, files: dict[str, bytes], expected: dict[int, str]) -> None:
    write_tree(tmp_path, files)
    assert judged(checkpoints.scan(str(tmp_path), verify).candidates) == expected


def test_a_directory_that_does_not_exist_yet_is_empty(tmp_path: Path) -> None:
    assert checkpoints.scan(str(tmp_path / "later")) == checkpoints.scan(str(tmp_path))


def test_a_directory_that_cannot_be_looked_at_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    found = checkpoints.scan(str(tmp_path / "file"))
    assert "Not a directory" in (found.error or "")
    assert "cannot be looked at" in checkpoints.describe(found)[0]


def test_the_newest_eight_are_reported_and_always_two_complete_ones(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"step-{n}.npz": Z if n < 4 else torn(Z) for n in range(1, 21)})
    found = checkpoints.scan(str(tmp_path)).candidates
    assert [c.step for c in found] == [20, 19, 18, 17, 16, 15, 14, 13, 3, 2]


def test_what_changes_between_two_looks_is_still_being_written(tmp_path: Path) -> None:
    path = tmp_path / "step-10.npz"
    path.write_bytes(torn(Z))
    reader = checkpoints.Reader(str(tmp_path))
    looks = [reader.scan(False), reader.scan(False)]
    path.write_bytes(Z)
    os.utime(path, (1, 1))
    looks += [reader.scan(False), reader.scan(False)]
    assert [look.candidates[0].validity for look in looks] == [UNKNOWN, BAD, UNKNOWN, WHOLE]
    assert looks[2].candidates[0].reason == "it is still being written"


def test_what_is_old_counts_at_the_first_look(tmp_path: Path) -> None:
    path = tmp_path / "step-10.npz"
    path.write_bytes(Z)
    os.utime(path, (1, 1))
    assert checkpoints.scan(str(tmp_path), quiet=False).candidates[0].validity == WHOLE


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "step-10.npz"
    path.write_bytes(Z)
    os.utime(path, (1, 1))
    reader = checkpoints.Reader(str(tmp_path))
    assert reader.scan(True).candidates[0].validity == WHOLE
    path.write_bytes(flipped(Z))
    os.utime(path, (1, 1))
    assert reader.scan(True).candidates[0].validity == WHOLE
    os.utime(path, (2, 2))
    assert reader.scan(True).candidates[0].validity == BAD


def test_a_large_archive_is_judged_by_its_structure(tmp_path: Path) -> None:
    path = tmp_path / "step-10.pt"
    with path.open("wb") as file:
        file.truncate(CHECKSUM_BYTES)
        file.seek(0)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            target.writestr("archive/data/0", b"weights")
            target.writestr("archive/data/1", b"weights")
        # What lies behind the directory is no part of the archive.
        file.truncate()
    assert checkpoints.scan(str(tmp_path)).candidates[0].validity == WHOLE
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x03\x04")] = 0
    path.write_bytes(data)
    assert checkpoints.scan(str(tmp_path)).candidates[0].validity == BAD


def test_a_compressed_archive_with_a_broken_member_is_invalid(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("weights.npy", os.urandom(3000))
    data = bytearray(stream.getvalue())
    data[200:600] = bytes(400)
    (tmp_path / "step-10.npz").write_bytes(data)
    assert checkpoints.scan(str(tmp_path)).candidates[0].validity == BAD


def test_every_candidate_is_told_in_one_line(tmp_path: Path) -> None:
    write_tree(tmp_path, {"step-10.npz": Z, "step-20.npz": torn(Z)})
    lines = checkpoints.describe(checkpoints.scan(str(tmp_path)))
    assert lines == [
        f"step 20  Invalid  file  {tmp_path}/step-20.npz  (step-20.npz is torn: its end is missing)",
        f"step 10  Complete  file  {tmp_path}/step-10.npz",
    ]

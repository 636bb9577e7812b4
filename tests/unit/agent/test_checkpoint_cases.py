"""The readers against torn checkpoints that people have reported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hedgerow import checkpoints
from hedgerow.checkpoints.names import parse
from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID
from tests.unit.agent.checkpoint_trees import content, torn, write_tree

pytestmark = pytest.mark.shared_data

# Layouts that are read now: the answer must be right. Of the others nothing may be called complete.
ANSWERED = {"c05", "c07", "c10", "c12", "c15", "c16", "c17", "c21", "c23"}
TORN = {"4/model.safetensors", "last.ckpt", "model.mdlus"}


def tree(case: dict[str, Any]) -> dict[str, bytes]:
    """The case's files. A top folder named `checkpoints` is the directory itself; sizes in the cases are nominal."""
    files = {}
    for path, size in case["tree"]:
        name = re.sub(r"/ .*$", "/", path).removeprefix("checkpoints/")
        data = size.encode() if isinstance(size, str) else b"" if size == 0 else content(name)
        files[name] = torn(data) if name in TORN else data
    return files


def chosen(folder: Path) -> int | None:
    """The newest complete step; failing one, the newest that is not proven invalid."""
    found = checkpoints.scan(str(folder)).candidates
    usable = [c for c in found if c.validity == CHECKPOINT_COMPLETE]
    usable += [c for c in found if c.validity != CHECKPOINT_INVALID]
    return usable[0].step if usable else None


def right_step(case: dict[str, Any]) -> int | None:
    if case["right_resume"].startswith("none"):
        return None
    name = parse(case["right_resume"].split(" ")[0], is_folder=not case["right_resume"].endswith(".ckpt"))
    assert name is not None
    return name.step


def test_reported_cases_get_the_right_answer_or_none(shared_data: Path, tmp_path: Path) -> None:
    cases = json.loads((shared_data / "cases" / "checkpoint_cases.json").read_text())
    assert {case["id"] for case in cases} > ANSWERED
    for case in cases:
        folder = tmp_path / case["id"]
        write_tree(folder, tree(case))
        if case["id"] in ANSWERED:
            assert chosen(folder) == right_step(case), case["id"]
        else:
            found = checkpoints.scan(str(folder)).candidates
            assert not [c for c in found if c.validity == CHECKPOINT_COMPLETE], case["id"]


def test_layouts_that_are_not_read_yet_are_never_vouched_for(shared_data: Path, tmp_path: Path) -> None:
    layouts = json.loads((shared_data / "cases" / "checkpoint_layouts.json").read_text())
    examples = {
        "PyTorch DCP / torchtitan": "step-5/__0_0.distcp",
        "DeepSpeed": "global_step5/mp_rank_00_model_states.pt",
        "Megatron-LM legacy": "iter_0000005/mp_rank_00/model_optim_rng.pt",
        "Megatron-Core dist": "iter_0000005/common.pt",
        "Orbax": "5/_CHECKPOINT_METADATA",
    }
    assert examples.keys() <= layouts.keys()
    for number, name in enumerate(examples.values()):
        folder = tmp_path / str(number)
        write_tree(folder, {name: content(name)})
        assert [c.validity for c in checkpoints.scan(str(folder)).candidates] == ["NotVerified"], name

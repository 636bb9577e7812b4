"""Checkpoint folders of the Hugging Face Trainer: ``checkpoint-N`` with ``trainer_state.json`` written last."""

from __future__ import annotations

import os
import re
from typing import Callable, Dict, List

from hedgerow.checkpoints.candidates import Entry
from hedgerow.checkpoints.contents import check_json, read_json
from hedgerow.checkpoints.finding import COMPLETE, Finding, invalid, not_verified, worst
from hedgerow.checkpoints.names import EXTENSIONS

LAYOUT = "hf-trainer"
STATE = "trainer_state.json"
_FOLDER = re.compile(r"checkpoint-\d+$")
_WEIGHTS = re.compile(r"(model|pytorch_model|adapter_model)(-\d+-of-\d+)?\.(safetensors|bin)$")
_INDEX = re.compile(r"(model|pytorch_model)\.(safetensors|bin)\.index\.json$")
_RANDOM_STATE = re.compile(r"rng_state_(\d+)\.pth$")

FileCheck = Callable[[Entry], Finding]


def has_name(folder: str) -> bool:
    """Whether a folder is named as the Trainer names them."""
    return _FOLDER.match(folder) is not None


def check_folder(files: Dict[str, Entry], folders: List[str], verify: str, check: FileCheck) -> Finding:
    """Whether a folder that holds ``trainer_state.json`` is whole. ``check`` looks into one file of weights."""
    state = check_json(files[STATE].path, verify)
    weights = [entry for name, entry in files.items() if _WEIGHTS.match(name)]
    indexes = [entry for name, entry in files.items() if _INDEX.match(name)]
    findings = [state, _missing_pieces(indexes, files, verify), _missing_random_states(files)]
    findings += [check(entry) for name, entry in files.items() if name.endswith(EXTENSIONS)]
    if folders:
        # DeepSpeed and FSDP put their shards there.
        findings.append(not_verified("folder %s in it has a layout that is not known here" % sorted(folders)[0]))
    elif not weights:
        findings.append(not_verified("it holds no weights that are known here"))
    return worst(findings)


def _missing_pieces(indexes: List[Entry], files: Dict[str, Entry], verify: str) -> Finding:
    for index in indexes:
        if check_json(index.path, verify) != COMPLETE:
            return check_json(index.path, verify)
        try:
            wanted = set(read_json(index.path)["weight_map"].values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return not_verified("%s cannot be understood" % index.name)
        missing = sorted(wanted - set(files))
        if missing:
            return invalid("%s is missing, %s names it" % (os.path.basename(str(missing[0])), index.name))
    return COMPLETE


def _missing_random_states(files: Dict[str, Entry]) -> Finding:
    """One rank's file each, from 0; a gap shows that a rank was stopped before it had written its own."""
    numbers = sorted(int(match.group(1)) for match in map(_RANDOM_STATE.match, files) if match)
    if numbers != list(range(len(numbers))):
        return invalid("rng_state files of the ranks have a gap")
    return COMPLETE

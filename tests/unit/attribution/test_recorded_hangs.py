"""Recorded hangs of a Megatron job of 16 ranks, with faults injected into ranks 9 and 14."""

import json
import shutil
from pathlib import Path

import pytest

from hedgerow_operator.adapters.dumps.files import read_dumps
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps

CASES = {"gpu_error_2nd": FaultClass.HARDWARE, "lock_gil_1st": FaultClass.APPLICATION}
GUILTY = (9, 14)
VICTIMS = tuple(rank for rank in range(16) if rank not in GUILTY)

pytestmark = [pytest.mark.shared_data, pytest.mark.parametrize("case", CASES)]


def pickles(shared_data: Path, case: str, into: Path, without: tuple[int, ...] = ()) -> Path:
    for rank in range(16):
        if rank not in without:
            shutil.copyfile(shared_data / "flight_recorder" / case / f"_dump_{rank}", into / f"_dump_{rank}")
    return into


def test_the_injected_ranks_are_guilty_and_all_others_victims(case: str, shared_data: Path, tmp_path: Path) -> None:
    verdict = judge_dumps(read_dumps(pickles(shared_data, case, tmp_path))[0])

    assert (verdict.guilty, verdict.victims) == (GUILTY, VICTIMS)
    assert verdict.fault_class is CASES[case]
    assert verdict.group == "EXPERT_MODEL_PARALLEL_GROUP"
    assert verdict.collective is not None
    assert (verdict.collective["op"], verdict.collective["missing"]) == ("all_to_all", [9, 14])


def test_the_json_of_all_ranks_says_the_same_as_their_pickles(case: str, shared_data: Path, tmp_path: Path) -> None:
    pickled, _ = read_dumps(pickles(shared_data, case, tmp_path))
    joined, _ = read_dumps(shared_data / "flight_recorder" / case / "all_ranks.json")

    assert judge_dumps(pickled) == judge_dumps(joined)


@pytest.mark.parametrize("missing", [(9,), (14,), (9, 14), (0,), (3,), (7,)], ids=str)
def test_the_verdict_stands_without_the_dumps_of_guilty_ranks_or_of_ranks_that_nobody_waits_for_first(
    case: str, missing: tuple[int, ...], shared_data: Path, tmp_path: Path
) -> None:
    assert judge_dumps(read_dumps(pickles(shared_data, case, tmp_path, missing))[0]).guilty == GUILTY


def test_other_numbers_for_the_ranks_give_the_same_verdict_in_other_numbers(
    case: str, shared_data: Path, tmp_path: Path
) -> None:
    names = {rank: (rank * 5 + 3) % 16 for rank in range(16)}
    dumps = json.loads((shared_data / "flight_recorder" / case / "all_ranks.json").read_text())
    for rank, dump in dumps.items():
        for group in dump["pg_config"].values():
            group["ranks"] = str([names[peer] for peer in json.loads(group["ranks"])])
        (tmp_path / f"rank_{names[int(rank)]}.json").write_text(json.dumps(dump))

    assert judge_dumps(read_dumps(tmp_path)[0]).guilty == tuple(sorted(names[rank] for rank in GUILTY))

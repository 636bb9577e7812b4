"""Nothing may start another number of ranks than the job has, and what a script starts besides is none of it."""

from __future__ import annotations

from hedgerow.descendants import RankPlace
from hedgerow.misfit import under_one_command, under_one_rank


def launched(rank: int, world: int, local_world: int | None = None) -> RankPlace:
    return RankPlace(rank, world, local_world, launched=True)


def test_ranks_that_fit_are_no_misfit() -> None:
    assert under_one_command([launched(2, 4), launched(3, 4)], worker=1, workers=2, nproc=2) is None
    assert under_one_rank({1: launched(3, 4, 2)}, 3, workers=2, nproc=2) is None


def test_a_command_that_makes_a_world_of_its_own_is_told_both_numbers() -> None:
    said = under_one_command([launched(0, 8)], worker=0, workers=2, nproc=2)
    assert said is not None
    assert said.startswith("the command starts 8 ranks in all where workers x ranksPerWorker is 2 x 2 = 4; ")


def test_a_command_that_starts_the_whole_world_at_each_worker_is_told_both_numbers() -> None:
    said = under_one_command([launched(0, 4, 4)], worker=1, workers=2, nproc=2)
    assert said is not None
    assert said.startswith("the command starts 8 ranks in all where workers x ranksPerWorker is 2 x 2 = 4; ")
    assert "PYTHONPATH" not in said


def test_a_script_that_replaces_the_variable_we_work_by_is_told_so() -> None:
    place = RankPlace(0, 8, 4, launched=True, injected=False)
    said = under_one_command([place], worker=0, workers=2, nproc=2)
    assert said is not None
    assert said.endswith("write PYTHONPATH=DIRECTORY:$PYTHONPATH")


def test_torchrun_started_once_for_each_rank_is_told_how_many_ranks_that_makes() -> None:
    said = under_one_rank({1: launched(0, 4, 4), 2: launched(1, 4, 4)}, 2, workers=1, nproc=4)
    assert said is not None
    assert "16 in all, where workers x ranksPerWorker is 1 x 4 = 4; write processes: PerWorker" in said


def test_a_world_of_one_beside_another_is_told() -> None:
    said = under_one_rank({1: launched(0, 1, 1)}, 1, workers=2, nproc=1)
    assert said is not None
    assert "1 in all, where workers x ranksPerWorker is 2 x 1 = 2" in said


def test_a_program_that_a_script_starts_with_a_world_of_its_own_is_none_of_the_ranks() -> None:
    evaluation = RankPlace(0, 1, 1)
    assert under_one_command([evaluation], worker=0, workers=2, nproc=2) is None
    assert under_one_rank({1: evaluation}, 3, workers=2, nproc=2) is None

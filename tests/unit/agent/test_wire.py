"""Reports leave out what goes without saying, and are read as what they were."""

import dataclasses
import json

import msgspec

from hedgerow import wire
from hedgerow.wire import Activity, Answer, Command, JobRef, PeerAnswer, RankReport, Report

BARE = Report(JobRef("u", "ml", "j"), 1, 0, 2, 8, "boot", "launcher", 3, 1.0, 2.0, wire.STAGE_RUNNING)
FULL = dataclasses.replace(
    BARE,
    attempt=2,
    ranks=[
        RankReport(0, 0, wire.RANK_RUNNING, beats=0, step=0, progress_age=0.0, activity=Activity("R", "", 0.0)),
        RankReport(1, 1, wire.RANK_EXITED, exit_code=0, output_tail=["x"], values={"loss": 0.0}),
    ],
    durations={"step": {3: 4}},
    checkpoints=wire.CheckpointScan([wire.Checkpoint(5, "/c/5", wire.CHECKPOINT_COMPLETE)]),
)


def test_what_is_at_its_default_is_left_out() -> None:
    assert sorted(json.loads(wire.encode(BARE))) == sorted(
        ["job", "placement", "worker", "workers", "ranks_per_worker", "boot", "launcher", "seq", "sent_monotonic",
         "sent_wall", "stage", "version"]
    )  # fmt: skip


def test_nothing_is_lost_by_it() -> None:
    for report in (BARE, FULL):
        assert msgspec.json.decode(wire.encode(report), type=Report) == report


def test_a_zero_that_was_measured_is_told() -> None:
    first, second = json.loads(wire.encode(FULL))["ranks"]
    assert (first["step"], first["progress_age"], first["activity"]["cpu_seconds"]) == (0, 0.0, 0.0)
    assert second["exit_code"] == 0


def test_answers_are_read_by_the_launcher_as_what_they_were() -> None:
    for answer in (Answer(True), Answer(False, 1.0, commands=[Command(wire.COMMAND_STOP, 2, peers=["a"])])):
        assert wire.decode_answer(wire.encode(answer)) == answer
    for peer in (PeerAnswer(0, False), PeerAnswer(1, True, 0.0)):
        assert wire.decode_peer_answer(wire.encode(peer)) == peer

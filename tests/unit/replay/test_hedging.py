"""`hedgerow replay hedging`: the published rows exactly, the aims of the adaptive policy, and odd files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hedgerow_operator.cli.replay import hedging

ROUNDS = "hedging/moss_rounds.jsonl"
# As GPUHedge publishes them (its README), and as an independent replay computed the rows that it does not.
PUBLISHED = {
    "fixed, rounds 19 to 54": ("fixed", "19-54", (6.0, 29.4, 29.8, 0, 0.0083, 0.0266, 0.0054, 11)),
    "cutover, rounds 19 to 54": ("cutover", "19-54", (6.0, 21.9, 22.3, 0, 0.0056, 0.0183, 0.0043, 11)),
    "cascade, rounds 19 to 54": ("cascade", "19-54", (6.0, 21.9, 22.3, 0, 0.0056, 0.0183, 0.0043, 11)),
    "none, rounds 19 to 54": ("none", "19-54", (6.0, 116.6, 122.2, 11, 0.0114, 0.0298, 0.0089, 0)),
    "race, rounds 19 to 54": ("race", "19-54", (6.0, 19.4, 19.8, 0, 0.0167, 0.0326, 0.0135, 36)),
    "fixed, all": ("fixed", None, (6.1, 105.1, 114.3, 5, 0.0153, 0.0336, 0.0119, 18)),
    "cutover, all": ("cutover", None, (6.1, 99.2, None, 5, 0.0101, 0.0223, 0.0084, 18)),
    "cascade, all": ("cascade", None, (6.1, 63.3, 97.6, 5, 0.0115, 0.0237, 0.0098, 18)),
    "race, all": ("race", None, (6.1, 38.3, 95.1, 1, 0.0224, 0.0390, 0.0182, 54)),
}
KEYS = ("p50", "p95", "max", "misses", "costActive", "costBilled", "costExecution", "launched")
BAD = {
    "no file": ([], "cannot be read"),
    "no rounds": (["{}"], "holds no rounds"),
    "no JSON": (["{"], "line 1 is no round"),
    "a round without its fields": (['{"kind": "round", "providers": {}}'], "line 1 is no round"),
    "a round without a provider": (
        ['{"kind": "round", "round_id": 1, "started": "2026-07-11T19:42:16Z", "providers": {}}'],
        "round 1 says nothing of runpod, cerebrium, modal",
    ),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(hedging, arguments)


def replay(*arguments: str) -> dict[str, object]:
    ran = run(*arguments, "-o", "json")
    assert ran.exit_code == 0, ran.output
    return dict(json.loads(ran.stdout))


def rows(count: int) -> str:
    """Rounds of our own: each provider quick, but RunPod cold in every third."""
    lines = []
    for number in range(1, count + 1):
        cold = number % 3 == 0
        delay, work = (12_000, 90_000) if cold else (1_200, 3_300)
        providers = {
            "runpod": {
                "state": "COMPLETED", "wall_s": (delay + work) / 1000 + 1.5, "valid": True,
                "metrics": {"runpod_delay_ms": delay, "runpod_execution_ms": work},
            },
            "cerebrium": {
                "state": "COMPLETED", "wall_s": 19.0, "valid": True, "metrics": {"cerebrium_run_time_ms": 16_000.0},
            },
            "modal": {"state": "COMPLETED", "wall_s": 38.0, "valid": True, "metrics": {}},
        }  # fmt: skip
        started = f"2026-07-11T{number // 60:02}:{number % 60:02}:00Z"
        row = {"kind": "round", "round_id": number, "started": started, "providers": providers}
        lines.append(json.dumps(row))
    return "\n".join(lines)


@pytest.mark.shared_data
@pytest.mark.parametrize(("policy", "counted", "row"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_a_published_row_comes_out(
    shared_data: Path,
    policy: str,
    counted: str | None,
    row: tuple[float | None, ...],
) -> None:
    options = [] if counted is None else ["--rounds", counted]
    found = replay(str(shared_data / ROUNDS), "--policy", policy, *options)
    digits = (1, 1, 1, 0, 4, 4, 4, 0)
    rounded = [
        None if value is None else round(float(str(value)), places)
        for value, places in zip((found[key] for key in KEYS), digits, strict=True)
    ]
    assert rounded == list(row)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("counted", "p95", "misses", "cost"), [("19-54", 20.8, 0, 0.0060), ("1-54", 45.0, 1, 0.0115)], ids=["19-54", "all"]
)
def test_the_adaptive_policy_does_better(
    shared_data: Path, counted: str, p95: float, misses: int, cost: float
) -> None:
    found = replay(str(shared_data / ROUNDS), "--policy", "adaptive", "--rounds", counted)
    assert float(str(found["p95"])) <= p95
    assert int(str(found["misses"])) <= misses
    assert float(str(found["costActive"])) <= cost


def test_rounds_of_our_own_are_told_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(rows(30))
    found = replay(str(path), "--rounds", "28-30")
    assert found["rounds"] == 3
    assert found["perRound"][0] == {  # type: ignore[index]
        "round": 28,
        "latencySeconds": 6.0,
        "winner": "runpod",
        "attempts": [{"provider": "runpod", "startSeconds": 0.0, "stopSeconds": 6.0}],
        "costActive": pytest.approx(6.0 * 0.000306),
    }
    hedged = found["perRound"][2]  # type: ignore[index]
    assert (hedged["winner"], [one["provider"] for one in hedged["attempts"]]) == ("cerebrium", ["runpod", "cerebrium"])
    assert hedged["attempts"][0]["stopSeconds"] < 12.0  # given up while its place was free
    assert hedged["latencySeconds"] == pytest.approx(19.0 + 1.05 * 1.2, abs=0.1)


def test_an_attempt_that_was_refused_stops_where_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    row = json.loads(rows(1))
    row["providers"]["cerebrium"] = {"state": "SUBMIT_FAILED", "wall_s": 0.0, "valid": False, "metrics": {}}
    path.write_text(json.dumps(row))
    found = replay(str(path), "--policy", "race")["perRound"][0]  # type: ignore[index]
    refused = found["attempts"][1]
    assert (refused["provider"], refused["startSeconds"], refused["stopSeconds"]) == ("cerebrium", 0.0, 0.0)


def test_losers_that_stop_late_cost_more(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(rows(30))
    costs = [replay(str(path), "--policy", "race", "--cancel-lag", lag)["costActive"] for lag in ("0", "5")]
    assert float(str(costs[1])) > float(str(costs[0]))


def test_people_see_the_rounds_that_were_hedged(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(rows(12))
    out = run(str(path), "--plot", str(tmp_path / "rounds.png")).stdout
    assert "12 rounds: p50 6.0 s, p95" in out
    assert "round 3: 21.5 s by cerebrium (runpod 0.0 to" in out
    assert (tmp_path / "rounds.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("lines", "words"), BAD.values(), ids=BAD.keys())
def test_a_file_that_is_none_is_refused_in_one_sentence(
    tmp_path: Path, lines: list[str], words: str
) -> None:
    path = tmp_path / "rounds.jsonl"
    if lines:
        path.write_text("\n".join(lines))
    ran = run(str(path))
    assert ran.exit_code != 0
    assert words in ran.stderr


@pytest.mark.parametrize("counted", ["x", "54-19", "1-", "90-95"])
def test_rounds_that_are_none_are_refused(tmp_path: Path, counted: str) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(rows(3))
    ran = run(str(path), "--rounds", counted)
    assert ran.exit_code != 0
    assert counted in ran.stderr

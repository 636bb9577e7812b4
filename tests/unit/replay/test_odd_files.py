"""Files that are no logs, tables or dumps at all: one sentence and exit code 2, and never a wait."""

import json
import os
from pathlib import Path

import pytest

from hedgerow_operator.cli.main import main

COMMANDS = {
    "replay training": ("replay", "training"),
    "replay workers": ("replay", "workers"),
    "replay flight-recorder": ("replay", "flight-recorder"),
    "explain": ("explain",),
}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return COMMANDS[request.param]


class Ran:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
        monkeypatch.setattr("sys.argv", ["hedgerow", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        self.code = ended.value.code or 0
        self.out, self.err = capsys.readouterr()


@pytest.mark.parametrize("kind", ["a pipe", "a device", "a link to a device"])
def test_what_is_no_regular_file_is_refused(
    kind: str, command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = Path("/dev/zero") if kind == "a device" else tmp_path / "odd"
    if kind == "a pipe":
        os.mkfifo(path)
    if kind == "a link to a device":
        path.symlink_to("/dev/zero")
    ran = Ran(capsys, monkeypatch, *command, path)
    assert ran.code == 2
    assert "regular file" in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


@pytest.mark.parametrize(
    "text", ["worker,time,batch_time_norm\na,1," + "9" * 200_000, "x" * 200_000], ids=["in a row", "in the first line"]
)
def test_a_field_without_end_is_no_table(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "steps.csv"
    path.write_text(text)
    ran = Ran(capsys, monkeypatch, "replay", "workers", path)
    assert (ran.code, "is no CSV" in ran.err, ran.err.count("\n")) == (2, True, 1)


def test_a_table_of_gigabytes_is_refused_before_it_fills_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hedgerow_operator.cli.replay_workers._MOST_BYTES", 1 << 20)
    path = tmp_path / "steps.csv"
    path.touch()
    os.truncate(path, 1 << 40)
    ran = Ran(capsys, monkeypatch, "replay", "workers", path)
    assert (ran.code, "larger than 1 MiB" in ran.err) == (2, True)


HUGE = ["1e400", "1e308", "9" * 40, "9" * 400, "-1e308"]


@pytest.mark.parametrize("number", HUGE, ids=["infinite", "large", "40 digits", "400 digits", "negative"])
@pytest.mark.parametrize("key", ["step", "time", "loss", "rank"])
@pytest.mark.parametrize("output", [[], ["-o", "json"]], ids=["for people", "for programs"])
def test_a_huge_number_in_a_line_spoils_no_replay(
    key: str, number: str, output: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [{"step": step, "time": 1_700_000_000 + step, "loss": 2.0, "rank": 0} for step in range(1, 60)]
    written = [json.dumps(line) for line in lines]
    for place in (20, 40):
        written[place] = json.dumps({**lines[place], key: "X"}).replace('"X"', number)
    path = tmp_path / "train.log"
    path.write_text("\n".join(written) + "\n")
    ran = Ran(capsys, monkeypatch, "replay", "training", path, *output)
    assert (ran.code, ran.err) == (0, "")
    assert "json" in ran.out


def test_a_time_without_end_by_a_pattern_of_the_user_is_no_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.log"
    times = [str(1_700_000_000 + step) for step in range(60)]
    times[30] = "1e400"
    path.write_text("".join(f"at {time} step {step}\n" for step, time in enumerate(times)))
    pattern = r"at (?P<time>\S+) step (?P<step>\d+)"
    ran = Ran(capsys, monkeypatch, "replay", "training", path, "--log-pattern", pattern, "-o", "json")
    assert (ran.code, json.loads(ran.out)["incidents"]) == (0, [])


@pytest.mark.parametrize(("unit", "number"), {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items())
def test_a_time_of_day_is_read_in_every_unit(
    unit: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.log"
    times = [1_700_000_000 + step for step in range(60)] + [1_700_001_000 + step for step in range(60)]
    lines = [json.dumps({"step": step, "time": time * number}) for step, time in enumerate(times)]
    path.write_text("\n".join(lines) + "\n")
    ran = Ran(capsys, monkeypatch, "replay", "training", path, "-o", "json")
    (incident,) = json.loads(ran.out)["incidents"]
    assert incident["lastProgressMillis"] == 1_700_000_059_000, unit


def test_a_hole_of_gigabytes_in_a_log_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "job.log"
    path.write_text("")
    os.truncate(path, 1 << 28)
    with path.open("a") as file:
        file.write("\n[rank3]: Traceback (most recent call last):\n[rank3]: KeyError: 'x'\n")
    ran = Ran(capsys, monkeypatch, "explain", path, "-o", "json")
    assert [event["kind"] for event in json.loads(ran.out)["events"]] == ["Exception"]

"""`hedgerow replay training` and `hedgerow replay workers`, as people and programs call them."""

import json
from pathlib import Path

import pytest

from hedgerow_operator.cli.main import main
from tests.unit.replay.logs import Log

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a stall that recovers, in the end cut off."""
    path = tmp_path / "train.log"
    path.write_text("\n".join(Log().steps(100).silence(60.0).steps(20).lines) + "\n")
    return path


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "steps.csv"
    path.write_text(text)
    return path


def slow_worker(tmp_path: Path) -> Path:
    """Four workers; worker b takes three times as long from sample 100 on."""
    rows = [
        f"{number},{worker},20,{number},{3.0 if worker == 'b' and number >= 100 else 1.0}"
        for number in range(150) for worker in "abcd"
    ]
    return table(tmp_path, "\n".join([",worker,gpu,time,batch_time_norm", *rows]))


class Ran:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
        monkeypatch.setattr("sys.argv", ["hedgerow", "replay", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        self.code = ended.value.code or 0
        self.out, self.err = capsys.readouterr()


def test_a_program_reads_the_keys_that_are_promised(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(capsys, monkeypatch, "training", log, "--ranks", 8, "-o", "json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert (found["outcome"], found["format"], found["steps"], found["alarms"]) == ("Truncated", "json", 120, [])
    (incident,) = found["incidents"]
    assert set(incident) == {
        "kind", "phase", "openedAtMillis", "lastProgressMillis", "closedAtMillis", "ranks", "class", "action",
        "actionAtMillis", "reason", "message"}
    assert incident["actionAtMillis"] == incident["openedAtMillis"]


def test_people_read_what_happened_when(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Ran(capsys, monkeypatch, "training", log).out.splitlines() == [
        "Truncated (NotFinished): the output stops after a step and does not say how the run ended.",
        "  120 steps, format json",
        "  Stall from 22:15:10 UTC, until 22:16:01 UTC: Alert (NoProgress, Unknown)",
        "    nothing has progressed since 22:15:00 UTC in phase step at step 100, where it usually takes 1.0 s; the "
        "log is the only witness, so no restart before 22:16:39 UTC; it went on by itself after 61 s",
    ]


def test_the_picture_is_a_png(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = tmp_path / "log.png", tmp_path / "workers.png"
    Ran(capsys, monkeypatch, "training", log, "--plot", pictures[0])
    Ran(capsys, monkeypatch, "workers", slow_worker(tmp_path), "--plot", pictures[1])
    for picture in pictures:
        assert picture.read_bytes().startswith(PNG)


def test_a_slow_worker_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (incident,) = json.loads(Ran(capsys, monkeypatch, "workers", slow_worker(tmp_path), "-o", "json").out)["incidents"]
    assert (incident["kind"], incident["workers"], incident["closedAtSample"]) == ("Slowdown", ["b"], None)
    assert 100 <= incident["openedAtSample"] <= 110


def test_rows_that_are_broken_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path, "worker,time,batch_time_norm\na,1,1.0\na,x,1.0\na\n,,\n\0\nb,1,nan\n")
    ran = Ran(capsys, monkeypatch, "workers", path)
    assert (ran.code, ran.out) == (0, "no worker became slower than its peers\n")


BAD: dict[str, tuple[list[str], str]] = {
    "a log that is not there": (["training", "nowhere.log"], "nowhere.log cannot be read: no such file or directory"),
    "a folder": (["training", "."], ". cannot be read: it is no regular file"),
    "a format that there is not": (["training", "x.csv", "--format", "tf"], "there is no log format 'tf'; write auto"),
    "a pattern that is none": (["training", "x.csv", "--log-pattern", "("], "the log pattern is no regular expression"),
    "a gap that is negative": (["training", "x.csv", "--observe-gap-seconds", "-1"], "-1.0 is not in the range x>=0"),
    "a table that is not there": (["workers", "nowhere.csv"], "nowhere.csv cannot be read"),
    "a table without the columns": (["workers", "x.csv"], "x.csv: the table needs the columns worker, time and"),
    "a picture that cannot be written": (
        ["training", "x.csv", "--plot", "no/where.png"], "--plot: no/where.png cannot be written"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence_and_exit_code_2_for(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.csv").write_text("one,two\n")
    monkeypatch.chdir(tmp_path)
    arguments, words = BAD[case]
    ran = Ran(capsys, monkeypatch, *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert words in ran.err

"""Where the kernel's log is read: nothing waits, nothing is lost in rotation, and what is missing is said."""

import os
import stat
from pathlib import Path

import pytest

from hedgerow_agent.kernel_log.sources import Journal, Kmsg, LogFile, Nothing, Played, source
from tests.unit.hedgerow_agent.node import Clock
from tests.unit.hedgerow_agent.polling import until

XID = "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."


def texts(log: object) -> list[str]:
    return [record.text for record in log.records()]  # type: ignore[attr-defined]


def test_a_file_is_read_from_now_on(tmp_path: Path) -> None:
    file = tmp_path / "kern.log"
    file.write_text("old\n")
    log = LogFile(str(file))
    assert texts(log) == []
    with file.open("a") as end:
        end.write("new\nhal")
        end.flush()
        assert texts(log) == ["new"]
        end.write("f\n")
    assert texts(log) == ["half"]
    log.close()


def test_one_look_reads_a_file_from_its_start(tmp_path: Path) -> None:
    file = tmp_path / "kern.log"
    file.write_text("old\n")
    assert texts(source(f"file:{file}", None, from_start=True)) == ["old"]


def test_a_file_that_is_rotated_is_followed(tmp_path: Path) -> None:
    file = tmp_path / "kern.log"
    file.write_text("")
    log = LogFile(str(file))
    assert texts(log) == []
    with file.open("a") as end:
        end.write("last of the old\n")
    file.rename(tmp_path / "kern.log.1")
    file.write_text("first of the new\n")
    found = [*texts(log), *texts(log), *texts(log)]
    assert found == ["last of the old", "first of the new"]
    log.close()


def test_a_file_that_is_emptied_in_place_is_followed(tmp_path: Path) -> None:
    file = tmp_path / "kern.log"
    file.write_text("")
    log = LogFile(str(file))
    texts(log)
    file.write_text("a long line of before\n")
    texts(log)
    file.write_text("new\n")
    assert texts(log) == ["new"]
    log.close()


def test_a_log_that_is_not_there_is_said_and_tried_again(tmp_path: Path) -> None:
    clock = Clock()
    log = Kmsg(str(tmp_path / "kmsg"), clock)
    assert texts(log) == []
    assert log.words.endswith("cannot be read: No such file or directory")
    (tmp_path / "kmsg").write_text("")
    assert texts(log) == []
    assert "cannot" in log.words
    clock.now += 31
    assert texts(log) == []
    assert log.words == f"from {tmp_path / 'kmsg'}"


def test_records_of_a_device_are_read_one_by_one_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "kmsg"
    os.mkfifo(pipe)
    log = Kmsg(str(pipe))
    assert texts(log) == []
    writer = os.open(pipe, os.O_WRONLY)
    os.write(writer, b"6,1,1000000,-;" + XID.encode())
    assert texts(log) == [XID]
    assert texts(log) == []
    os.close(writer)
    log.close()


def test_the_journal_is_followed_and_begun_again_when_it_ends(tmp_path: Path) -> None:
    command = tmp_path / "journalctl"
    command.write_text(f"#!/bin/sh\necho '[    1.5] kernel: {XID}'\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    clock = Clock()
    log = Journal(clock, (str(command),))
    assert until(lambda: texts(log)) == [XID]
    until(lambda: (texts(log), "ended" in log.words)[1])
    clock.now += 31
    assert until(lambda: texts(log)) == [XID]
    log.close()


def test_a_journal_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    log = Journal(Clock(), (str(tmp_path / "none"),))
    assert texts(log) == []
    assert "No such file" in log.words


def test_fake_devices_play_the_log_unless_another_is_named(tmp_path: Path) -> None:
    assert isinstance(source("auto", lambda: [XID]), Played)
    assert isinstance(source("auto", None), Kmsg)
    assert isinstance(source("none", None), Nothing)
    assert isinstance(source("journal", None), Journal)
    with pytest.raises(ValueError, match="expected auto, kmsg, journal, file:PATH or none"):
        source("dmesg", None)

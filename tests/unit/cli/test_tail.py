"""A log that somebody else writes is followed in whole lines."""

from pathlib import Path

from hedgerow_operator.cli.tail import Tail


def test_it_begins_with_the_last_lines_and_gives_what_follows_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("one\ntwo\nthree\n")
    tail = Tail(path, 2)
    assert tail.read() == "two\nthree\n"
    assert tail.read() == ""
    with path.open("a") as file:
        file.write("four\nfi")
    assert tail.read() == "four\n"
    with path.open("a") as file:
        file.write("ve\n")
    assert tail.read() == "five\n"


def test_a_file_that_comes_later_or_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = Tail(path, 0)
    assert tail.read() == ""
    path.write_text("one\n")
    assert tail.read() == ""  # there already when it was first seen
    (tmp_path / "new").write_text("two\n")
    (tmp_path / "new").rename(path)
    assert tail.read() == "two\n"


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "log").symlink_to(tmp_path / "secret")
    assert Tail(tmp_path / "log", 5).read() == ""

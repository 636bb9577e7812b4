"""Slurm's lists of hosts, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_operator.core.slurm.hostlist import LONGEST, compress, expand

LISTS = {
    "one host": ("n1", ("n1",)),
    "hosts by commas": ("n1,n3", ("n1", "n3")),
    "a range": ("n[1-3]", ("n1", "n2", "n3")),
    "a comma inside brackets does not split (s05)": (
        "ml-16-node-[001-002,004],ml-17-node-[001-003]",
        (
            "ml-16-node-001",
            "ml-16-node-002",
            "ml-16-node-004",
            "ml-17-node-001",
            "ml-17-node-002",
            "ml-17-node-003",
        ),
    ),
    "zeros in front are kept over a carry": ("a[08-11]", ("a08", "a09", "a10", "a11")),
    "two brackets are a grid": ("r[1-2]n[5,7]", ("r1n5", "r1n7", "r2n5", "r2n7")),
    "text behind the brackets": ("n[1-2].example.org", ("n1.example.org", "n2.example.org")),
    "a name with dashes": ("gpu-a-1", ("gpu-a-1",)),
    "nothing": ("", ()),
    "Slurm's word for nothing": ("(null)", ()),
    "not yet assigned": ("None assigned", ()),
}
WRONG = {
    "an open bracket": ("n[1-3", "bracket"),
    "a closing one alone": ("n1-3]", "bracket"),
    "brackets in brackets": ("n[1-[2]]", "bracket"),
    "words in brackets": ("n[a-b]", "neither a number nor a range"),
    "empty brackets": ("n[]", "neither a number nor a range"),
    "a range that would fill the memory": ("n[1-999999999]", "more than"),
    "a grid that would": ("a[1-9999]b[1-9999]", "more than"),
}
WRITTEN = {
    "a run is a range": (("n1", "n2", "n3"), "n[1-3]"),
    "gaps": (("n1", "n2", "n4"), "n[1-2,4]"),
    "one stays as it is": (("n7",), "n7"),
    "different widths are different names": (("n1", "n01"), "n01,n1"),
    "without numbers": (("login", "gate"), "gate,login"),
    "each once": (("n2", "n2"), "n2"),
    "none": ((), ""),
}


@pytest.mark.parametrize(("text", "names"), LISTS.values(), ids=LISTS)
def test_a_list_stands_for_these_names(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG)
def test_what_is_no_list_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        expand(text)


@pytest.mark.parametrize(("names", "text"), WRITTEN.values(), ids=WRITTEN)
def test_names_are_written_short(names: tuple[str, ...], text: str) -> None:
    assert compress(names) == text


@given(st.sets(st.from_regex(r"[a-z]{1,3}(-[a-z]{1,2})?[0-9]{0,4}", fullmatch=True), max_size=40))
def test_what_is_written_is_read_as_the_same_names(names: set[str]) -> None:
    assert set(expand(compress(names))) == names


def test_the_largest_cluster_is_read() -> None:
    assert len(expand(f"n[1-{LONGEST}]")) == LONGEST

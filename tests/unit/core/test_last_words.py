"""The end of a process's output in a message."""

import pytest

from hedgerow_operator.core.last_words import last_words

CASES = {
    "nothing": ("", ""),
    "only empty lines": ("\n \n\t\n", ""),
    "one line": ("sh: python3: not found\n", "sh: python3: not found"),
    "the last two lines": ("one\ntwo\n\nthree\n", "two | three"),
    "a line without its end": ("one\ntwo", "one | two"),
    "colours and what steers a terminal": ("\x1b[31mred\x1b[0m\x07 alert\r\n", "red  alert"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_last_words_of(case: str) -> None:
    output, expected = CASES[case]
    assert last_words(output) == expected


def test_they_are_short_however_much_was_printed() -> None:
    found = last_words(("x" * 100_000 + "\n") * 3)
    assert found
    assert len(found) <= 600
    assert "\n" not in found

"""`hedgerow explain` on lines of Hedgerow's own launcher."""

import pytest

from hedgerow.logs import launcher_lines as lines
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind
from tests.unit.attribution.reading import explained, traceback, watchdog

APPLICATION, SCHEDULER, UNKNOWN = FaultClass.APPLICATION, FaultClass.SCHEDULER, FaultClass.UNKNOWN


def said(template: str, *fields: object) -> str:
    return f"{lines.PREFIX}{template % fields}\n"


NO_FILE = "/usr/bin/python3: can't open file '/job/nosuch.py': [Errno 2] No such file or directory"
NO_MODULE = "/usr/bin/python3.12: No module named nosuch"
STOPPED = said(lines.STOPPED, 1, ": RankExited")

# Each: the log, the suspects, the class, the rank of the first failure.
LOGS = {
    "a rank that was killed, and those that were told to end for it": (
        said(lines.RANK_ENDED, 2, 137) + STOPPED + said(lines.RANK_ENDED, 0, 137) + said(lines.RANK_ENDED, 1, 143),
        (2,), UNKNOWN, 2),
    "a rank that crashed in native code while watchdogs of others speak": (
        said(lines.RANK_ENDED, 1, 139) + watchdog(0, 70), (1,), APPLICATION, 1),
    "a command that cannot be started": (
        said(lines.CANNOT_START, "pyton3", "No such file or directory"), (), APPLICATION, None),
    "a command that ends badly without a rank that did": (
        said(lines.COMMAND_ENDED, 127) + said(lines.ALL_ENDED, 1), (), APPLICATION, None),
    "a command that ends badly because a rank did": (
        said(lines.COMMAND_ENDED, 1) + said(lines.RANK_ENDED, 2, 139) + said(lines.ALL_ENDED, 1), (2,), APPLICATION, 2),
    "an exception, and the exit of its rank": (
        traceback("KeyError: 'labels'", "[rank3]: ") + said(lines.RANK_ENDED, 3, 1), (3,), APPLICATION, 3),
    "a launcher that was asked to end": (
        said(lines.ASKED_TO_END) + said(lines.RANK_ENDED, 0, 143), (), SCHEDULER, None),
    "a second attempt whose rank fails by itself": (
        STOPPED + said(lines.RANK_ENDED, 0, 137) + said(lines.STARTS, 2, "") + said(lines.RANK_ENDED, 1, 137),
        (1,), UNKNOWN, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", LOGS)
def test_the_launcher_tells_of(case: str) -> None:
    text, suspects, fault_class, rank = LOGS[case]
    found = explained(text)
    assert (found.suspects, found.fault_class) == (suspects, fault_class)
    assert found.first_failure is not None
    assert found.first_failure.rank == rank


def test_ranks_that_end_well_are_no_event() -> None:
    assert explained(said(lines.RANK_ENDED, 0, 0) + said(lines.ALL_ENDED, 1)).events == ()


def test_of_ranks_that_were_told_to_end_only_the_reason_is_said() -> None:
    found = explained(said(lines.STOPPED, 1, ": NoProgress") + said(lines.RANK_ENDED, 0, 137))
    assert found.suspects == ()
    assert "NoProgress" in found.message
    assert [(event.kind, event.rank, event.consequence) for event in found.events] == [(EventKind.EXIT, 0, True)]


@pytest.mark.parametrize("line", [NO_FILE, NO_MODULE])
def test_a_program_that_is_not_there_is_told_in_the_words_of_python(line: str) -> None:
    ended = [f"{line}\n{said(lines.RANK_ENDED, rank, 2)}" for rank in (0, 1)]
    one, both = explained(ended[0]), explained("".join(ended))
    assert one.first_failure is not None
    assert (one.fault_class, one.first_failure.text) == (APPLICATION, line)
    assert (both.fault_class, both.suspects, both.evidence) == (APPLICATION, (), ({"line": 1, "text": line},))


def test_a_program_that_prints_that_it_opens_no_file_has_not_failed() -> None:
    assert explained("train.py: can't open file cache.bin, which is built anew\n").events == ()

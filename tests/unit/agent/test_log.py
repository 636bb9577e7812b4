"""The launcher's own lines."""

import pytest

from hedgerow import environment
from hedgerow.log import say, tell


def said(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What was written."""
    return capfd.readouterr().err.splitlines()


def test_what_happens_in_every_run_is_told_unless_nobody_wants_to_hear_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell("attempt 1 starts")
    assert said(capfd) == ["hedgerow: attempt 1 starts"]
    monkeypatch.setenv(environment.QUIET, "1")
    tell("attempt 2 starts")
    say("the ranks are killed")
    assert said(capfd) == ["hedgerow: the ranks are killed"]

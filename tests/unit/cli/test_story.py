"""The words of the demo."""

from hedgerow_operator.api.status import Incident
from hedgerow_operator.cli.views.story_text import verdict as story_verdict


def test_the_story_names_nobody_when_nobody_is_guilty() -> None:
    incident = Incident(kind="NoProgress", opened_at="", attempt=1, reason="NoProgress", action="attempt 2 starts")
    assert "Guilty: no single rank" in story_verdict(incident)

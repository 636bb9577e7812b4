"""How a job does in one word."""

import pytest

from hedgerow_operator.api.status import Condition, Incident
from hedgerow_operator.cli.views.verdict import verdict_word
from tests.unit.cli.builders import condition, job

_RUNS = condition("Running", reason="Training")
_FINE = condition("Stalled", "False", "Healthy")


def _incident(kind: str) -> Incident:
    return Incident(kind=kind, opened_at="2023-11-14T22:13:20Z", attempt=1)


WORDS: dict[str, tuple[tuple[Condition, ...], Incident | None, str]] = {
    "a job that nobody has looked at yet": ((), None, ""),
    "ranks that are still being started": ((condition("Running", "False"), _FINE), None, ""),
    "ranks that train": ((_RUNS, _FINE), None, "Healthy"),
    "ranks that were not measured": ((condition("Stalled", "Unknown", "NotMeasured"),), None, "NotMeasured"),
    "a silence that is looked into": ((condition("Stalled", "Unknown", "Suspect"),), None, "Suspect"),
    "a stall": ((condition("Stalled", "True", "NoProgress"),), _incident("NoProgress"), "Stalled"),
    "a stall that is being healed": ((_FINE,), _incident("NoProgress"), "Stalled"),
    "a rank that has exited": ((_FINE,), _incident("RankExited"), "Failed"),
    "slow steps": ((_RUNS, _FINE, condition("Degraded", reason="SlowerThanBaseline")), None, "Slow"),
    "a loss that is no number": ((_RUNS, _FINE, condition("Degraded", reason="MetricAlert")), None, "Degraded"),
    "a job that was given up": ((condition("Failed"), _FINE), None, "Failed"),
    "a job that has succeeded": ((condition("Succeeded"), _FINE), None, ""),
    "a job that was stopped": ((condition("Suspended"), _FINE), None, ""),
}


@pytest.mark.parametrize("case", WORDS)
def test_the_word_for(case: str) -> None:
    conditions, incident, word = WORDS[case]
    assert verdict_word(job(conditions=conditions, incident=incident).status) == word

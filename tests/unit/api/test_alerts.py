"""The few forms that the condition of an alert has, and the sentence about any other."""

from __future__ import annotations

import pytest

from hedgerow_operator.api.alerts import When, parse_when

READ = {
    "isNaN": When("isNaN"), "isInfinite": When("isInfinite"), "spike": When("spike"), "absent": When("absent"),
    "> 5": When(">", 5.0), ">=0.5": When(">=", 0.5), "< -1e-3": When("<", -0.001), "<= 7": When("<=", 7.0),
}
REFUSED = ("", "loss > 5", "== 5", "> five", "isnan", "> 5 and < 7", "> 5\n", "spike 3", ">  5", "absentFor 60")


@pytest.mark.parametrize("text", READ)
def test_a_known_form_is_read(text: str) -> None:
    assert parse_when(text) == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="write one of: isNaN, isInfinite, > 5"):
        parse_when(text)

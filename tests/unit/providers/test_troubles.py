"""What a refusal over HTTP means."""

import pytest
from multidict import CIMultiDict

from hedgerow_operator.adapters.providers.troubles import Reply, refused


def _refused(status: int, body: str, **headers: str) -> object:
    return refused("the job", Reply(status=status, headers=CIMultiDict(headers), body=body.encode()), ["hidden-key"])


CASES = {
    "a wrong key": (401, '{"error": "bad"}', {"credentials": True, "safe_to_retry": True, "exhausted": False}),
    "a key without rights": (403, '{"detail": "forbidden"}', {"credentials": True, "exhausted": False}),
    "a limit": (429, "slow down", {"safe_to_retry": True, "exhausted": False, "credentials": False}),
    "a quota that is used up is no limit that passes": (
        429,
        '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}',
        {"exhausted": True, "safe_to_retry": True},
    ),
    "a quota of Lambda": (403, '{"error": {"code": "global/quota-exceeded", "message": "x"}}', {"exhausted": True}),
    "no balance": (402, "{}", {"exhausted": True, "safe_to_retry": True, "credentials": False}),
    "a bad request": (400, '{"error": {"message": "no such field"}}', {"safe_to_retry": True}),
    "a failure there may have begun": (500, "oops", {"safe_to_retry": False, "credentials": False}),
    "a gateway that gave up may have begun": (504, "", {"safe_to_retry": False}),
}


@pytest.mark.parametrize("case", CASES)
def test_each_refusal_means_what_it_says(case: str) -> None:
    status, body, expected = CASES[case]
    error = _refused(status, body)
    assert {name: getattr(error, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"error": {"message": "the words"}}', "HTTP 400: the words"),
        ('{"detail": "the words"}', "HTTP 400: the words"),
        ('{"title": "Too Many", "detail": "the words"}', "HTTP 400: the words"),
        ("the\nwords\x00", "HTTP 400: the words"),
        ("<html><body>a whole page</body></html>", "HTTP 400"),
        ("your key hidden-key is wrong", "HTTP 400: your key … is wrong"),
        ("x" * 5000, "HTTP 400: " + "x" * 199 + "…"),
    ],
)
def test_the_provider_s_own_words_are_told_short_and_without_secrets(body: str, expected: str) -> None:
    assert str(_refused(400, body)) == f"the job was answered by {expected}"

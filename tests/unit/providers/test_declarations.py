"""What users declare of an API: paths, states, headers, and sentences about what cannot be used."""

from typing import Any

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.declared.declaration import (
    Declaration,
    DeclaredCall,
    check,
    filled,
    url_of,
)
from hedgerow_operator.adapters.providers.declared.paths import picking
from hedgerow_operator.adapters.providers.setup import Secrets
from hedgerow_operator.core.hedging.seen import AttemptState

GOOD = Declaration(
    submit=DeclaredCall(url="https://api.example/run", method="POST"),
    status=DeclaredCall(url="https://api.example/jobs/{id}"),
    states={"DONE": AttemptState.VALID},
)

BAD = {
    "no address": (replace(GOOD, submit=DeclaredCall(url="api.example/run")), "begins with https://"),
    "half an address": (replace(GOOD, submit=DeclaredCall(url="https://[")), "begins with https://"),
    "another scheme": (replace(GOOD, submit=DeclaredCall(url="file:///etc/passwd")), "begins with https://"),
    "credentials in the address": (replace(GOOD, submit=DeclaredCall(url="https://u:p@x/")), "put them into a Secret"),
    "a status that does not name the job": (
        replace(GOOD, status=DeclaredCall(url="https://api.example/jobs")),
        "put {id} where",
    ),
    "a path that is none": (replace(GOOD, output="data[["), "neither a dotted path nor JMESPath"),
    "no state that means done": (replace(GOOD, states={"X": AttemptState.FAILED}), "no state that means Valid"),
}


def test_a_good_declaration_is_taken() -> None:
    check(GOOD)


@pytest.mark.parametrize("case", BAD)
def test_a_bad_one_is_refused_in_a_sentence_that_says_what_to_write(case: str) -> None:
    declaration, sentence = BAD[case]
    with pytest.raises(ValueError, match=r"\S+") as caught:
        check(declaration)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_headers_take_secrets_by_key_and_say_which_is_missing() -> None:
    declared = replace(GOOD, headers={"Authorization": "Key ${id}:${key}", "X-Plain": "$5"})
    assert filled(declared.headers, Secrets({"id": "a", "key": "b"})) == {"Authorization": "Key a:b", "X-Plain": "$5"}
    with pytest.raises(ValueError, match=r"http\.headers\.Authorization wants the key id") as caught:
        filled(declared.headers, Secrets({"key": "hidden"}))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"X-A": "a\r\nX-B: b"}, "http.headers.X-A has a line break"),
        ({"X-A": "${key}"}, "the Secret's key has a line break within"),
        ({"X A": "a"}, "'X A' is no name of a header"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused_without_their_secrets(headers: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=r"http\.headers") as caught:
        filled(headers, Secrets({"key": "hidden\nX-B: b"}))
    assert said in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_a_job_s_id_cannot_leave_its_place_in_the_address() -> None:
    call = DeclaredCall(url="https://api.example/jobs/{id}/status")
    assert url_of(call, "../admin?x=1#") == "https://api.example/jobs/..%2Fadmin%3Fx%3D1%23/status"


def test_secrets_do_not_show_themselves() -> None:
    secrets = Secrets({"apiKey": " hidden\n"})
    assert secrets["apiKey"] == "hidden"
    assert "hidden" not in repr(secrets)
    assert "hidden" not in str(secrets)
    assert "hidden" not in f"{secrets}"


PATHS: dict[str, tuple[str, Any, Any]] = {
    "empty is the whole": ("", {"a": 1}, {"a": 1}),
    "a dotted path": ("a.b", {"a": {"b": 2}}, 2),
    "an index": ("a.1.b", {"a": [0, {"b": 3}]}, 3),
    "an index beyond the end": ("a.7", {"a": [0]}, None),
    "a name with a hyphen": ("x-y.z", {"x-y": {"z": 4}}, 4),
    "JMESPath": ("a[?b > `1`].c | [0]", {"a": [{"b": 1, "c": 5}, {"b": 2, "c": 6}]}, 6),
    "what is not there": ("a.b.c", {"a": 7}, None),
    "a function that refuses the type": ("length(a)", {"a": 7}, None),
    "nothing at all": ("a", None, None),
}


@pytest.mark.parametrize("case", PATHS)
def test_paths_find_what_they_name(case: str) -> None:
    path, whole, expected = PATHS[case]
    assert picking(path)(whole) == expected

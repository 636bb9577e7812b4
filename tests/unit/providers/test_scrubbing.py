"""What is taken out of answers, and what is held back of a stream for it."""

from collections.abc import AsyncIterator, Sequence

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer
from hedgerow_operator.adapters.providers.scrubbing import Scrubber

KEY = "rpa_KEY/of+ours="
STARS = "*" * len(KEY)

ANSWERS: dict[str, tuple[Answer, Answer]] = {
    "a body": (
        Answer(status=200, body=f"Bearer {KEY}, {KEY}".encode()),
        Answer(status=200, body=f"Bearer {STARS}, {STARS}".encode()),
    ),
    "a header": (
        Answer(status=200, headers={"X-Echo": f"Bearer {KEY}", "X": "é\udcff"}),
        Answer(status=200, headers={"X-Echo": f"Bearer {STARS}", "X": "é\udcff"}),
    ),
    "a job's output": (
        Answer(status=200, output={"asked": [{"authorization": KEY}], "n": 1}),
        Answer(status=200, output={"asked": [{"authorization": STARS}], "n": 1}),
    ),
    "JSON that escapes its slash": (
        Answer(status=200, body=b'{"a": "rpa_KEY\\/of+ours="}'),
        Answer(status=200, body=b'{"a": "*****************"}'),
    ),
    "an address": (
        Answer(status=200, body=b"?key=rpa_KEY%2Fof%2Bours%3D&x=1"),
        Answer(status=200, body=b"?key=**********************&x=1"),
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_key_of_ours_is_taken_out_of(case: str) -> None:
    given, expected = ANSWERS[case]
    assert Scrubber([KEY]).answer(given) == expected


def test_an_answer_without_a_key_is_the_same_object() -> None:
    answer = Answer(status=200, headers={"Content-Type": "text/plain"}, body=b"rpa_KEY", output={"a": "rpa_KEY"})
    assert Scrubber([KEY]).answer(answer) is answer


def test_what_is_too_short_to_be_a_secret_is_left() -> None:
    assert Scrubber(["admin", "eu"]).whole(b"admin of eu") == b"admin of eu"
    assert not Scrubber(["admin"])


def test_a_secret_that_is_a_part_of_another_hides_nothing_of_it() -> None:
    assert Scrubber(["sk-12345", "sk-12345-67890"]).whole(b"sk-12345-67890 sk-12345") == b"*" * 14 + b" " + b"*" * 8


def test_a_key_with_quotes_is_found_as_json_writes_it() -> None:
    answer = Answer(status=200, output={"key": 'pass"word\n1'})
    assert Scrubber(['pass"word\n1']).answer(answer) == replace(answer, output={"key": "*" * 13})


async def _pieces(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def _read(chunks: Sequence[bytes], *secrets: str) -> list[bytes]:
    return [piece async for piece in Scrubber(secrets or [KEY]).stream(_pieces(chunks))]


@pytest.mark.parametrize("size", range(1, 24))
async def test_a_key_is_taken_out_of_a_stream_wherever_it_is_cut(size: int) -> None:
    whole = f"rpa_ rpa_K data: {KEY}{KEY}\n\nrpa_KEY rpa_KEY/of+ours".encode()
    read = await _read([whole[at : at + size] for at in range(0, len(whole), size)])
    assert b"".join(read) == whole.replace(KEY.encode(), STARS.encode())


HELD: dict[str, tuple[Sequence[bytes], Sequence[bytes]]] = {
    "events are never held": ([b"data: 1\n\n", b"data: 2\n\n"], [b"data: 1\n\n", b"data: 2\n\n"]),
    "what a key may begin with waits": ([b"a rp", b"a_x"], [b"a ", b"rpa_x"]),
    "a piece that is nothing else waits": ([b"rpa_", b"KEY"], [b"rpa_KEY"]),
    "a letter that no key begins with does not": ([b"KEY", b"/of"], [b"KEY", b"/of"]),
    "at the end nothing is lost": ([b"a rpa_KEY/"], [b"a ", b"rpa_KEY/"]),
    "nothing stays nothing": ([b"", b"x"], [b"x"]),
}


@pytest.mark.parametrize("case", HELD)
async def test_only_what_a_key_may_begin_with_is_held_back(case: str) -> None:
    chunks, expected = HELD[case]
    assert await _read(chunks) == list(expected)

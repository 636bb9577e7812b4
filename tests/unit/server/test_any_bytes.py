"""Whatever bytes come, the decoders either understand them or say in one sentence why not."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import wire, wire_agent
from hedgerow_operator.server import bounds
from hedgerow_operator.server.agent_decoding import decode_agent_report, decode_outline
from hedgerow_operator.server.decoding import Malformed, decode_head, decode_report
from hedgerow_operator.server.kept_report import decode_quickly, let_go
from tests.unit.server.builders import as_wired, report
from tests.unit.server.test_agent_reports import encoded

DECODERS = (decode_head, decode_report, decode_outline, decode_agent_report)
LAUNCHERS = json.loads(
    wire.encode(
        report(
            checkpoints=wire.CheckpointScan(candidates=[wire.Checkpoint(10, "/c/10", wire.CHECKPOINT_COMPLETE)]),
            ranks=[
                wire.RankReport(
                    rank=0,
                    local_rank=0,
                    state=wire.RANK_RUNNING,
                    activity=wire.Activity("S", "futex", 1.0),
                    values={"loss": 1.5},
                    communication=wire.CommunicationReport(0.5),
                    collectives={"pg_config": {}},
                )
            ],
        )
    )
)
AGENTS = json.loads(
    encoded(
        findings=[wire_agent.Finding("ecc", "Failed", "DoubleBit", "Reset", "two bits", 0)],
        events=[wire_agent.GpuEvent("Xid", 79, "0000:9b:00.0")],
        around=wire_agent.HostReport(
            disks=[wire_agent.DiskReport("/ckpt")], links=[wire_agent.LinkReport("ib0", "IB")]
        ),
    )
)
CALM = {
    **LAUNCHERS,
    "ranks": [{key: said for key, said in rank.items() if key != "collectives"} for rank in LAUNCHERS["ranks"]],
}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=80),
    st.just(10**400),
    st.just("x" * 5000),
    st.just([]),
    st.just({}),
    st.just([[[[]]]]),
    st.just({"": {"": []}}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, held in inside for place in places(held, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with something else at one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def understood_or_refused(body: bytes) -> None:
    for decode in DECODERS:
        sentence = refusal(decode, body)
        assert sentence
        assert "\n" not in sentence
        assert len(sentence) < 1000


def refusal(decode: Callable[[bytes], object], body: bytes) -> str:
    try:
        decode(body)
    except Malformed as error:
        return str(error)
    return "fine"


@given(st.binary(max_size=400))
@settings(max_examples=400, deadline=None)
def test_any_bytes(body: bytes) -> None:
    understood_or_refused(body)


@given(st.sampled_from([LAUNCHERS, AGENTS]), st.data())
@settings(max_examples=800, deadline=None)
def test_reports_that_are_odd_in_one_or_two_places(plain: Any, data: st.DataObject) -> None:
    odd = plain
    for _ in range(data.draw(st.integers(1, 2))):
        odd = changed(odd, data.draw(st.sampled_from(places(odd))), data.draw(ODD))
    understood_or_refused(json.dumps(odd).encode())


@given(st.sampled_from([LAUNCHERS, AGENTS]), st.data())
@settings(max_examples=300, deadline=None)
def test_reports_that_are_cut_off_or_damaged(plain: Any, data: st.DataObject) -> None:
    body = bytearray(json.dumps(plain).encode())
    for _ in range(data.draw(st.integers(0, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    understood_or_refused(bytes(body[: data.draw(st.integers(0, len(body)))]))


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_the_quick_look_at_the_numbers_of_a_report_never_passes_what_the_thorough_one_refuses(
    data: st.DataObject,
) -> None:
    numbers = [place for place in places(CALM) if place]
    odd = changed(
        CALM,
        data.draw(st.sampled_from(numbers)),
        data.draw(
            st.one_of(
                st.integers(-(2**70), 2**70), st.sampled_from([1e11, 1.1e11, 2.0**64, -(2.0**65), 1e308, 257, -1])
            )
        ),
    )
    body = json.dumps(odd).encode()
    if decode_quickly(body) is not None:
        decode_thoroughly(body)


@given(st.data())
@settings(max_examples=600, deadline=None)
def test_what_is_read_quickly_says_the_same_as_when_it_is_read_thoroughly(data: st.DataObject) -> None:
    odd = changed(CALM, data.draw(st.sampled_from(places(CALM))), data.draw(ODD))
    body = json.dumps(odd).encode()
    read = decode_quickly(body)
    if read is not None:
        assert as_wired(read) == decode_thoroughly(body)


def test_ranks_that_were_let_go_are_read_again() -> None:
    read = decode_report(json.dumps({**CALM, "": None}).encode())
    before = read.ranks
    let_go(read)
    assert read.ranks is not before
    assert read.ranks == before


def decode_thoroughly(body: bytes) -> wire.Report:
    found: wire.Report = msgspec.json.decode(body, type=wire.Report)
    assert bounds.excess_beside_numbers(found) == bounds.excess(found)
    return found

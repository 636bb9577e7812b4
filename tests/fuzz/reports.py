"""Coverage-guided fuzzing of the decoders of reports, and of the head of their requests: understood, or refused in one
sentence; and what is read quickly is what is read thoroughly.

pip install atheris msgspec; PYTHONPATH=agent:operator python tests/fuzz/reports.py -max_total_time=180 -timeout=5
"""

import copy
import json
import sys
from typing import Any

import atheris

with atheris.instrument_imports(include=["hedgerow", "hedgerow_operator"]):
    import msgspec

    from hedgerow import wire, wire_agent
    from hedgerow_operator.server import bounds
    from hedgerow_operator.server.agent_decoding import decode_agent_report, decode_outline
    from hedgerow_operator.server.decoding import Malformed, decode_head, decode_report
    from hedgerow_operator.server.door import plain_head
    from hedgerow_operator.server.kept_report import decode_quickly, let_go

DECODERS = (decode_head, decode_report, decode_outline, decode_agent_report)
RANK = wire.RankReport(
    rank=0, local_rank=0, state=wire.RANK_RUNNING, beats=3, step=2, activity=wire.Activity("S", "futex", 1.0),
    values={"loss": 1.5}, communication=wire.CommunicationReport(0.5), collectives={"pg_config": {}},
)  # fmt: skip
LAUNCHERS = json.loads(wire.encode(wire.Report(
    job=wire.JobRef("uid", "ns", "run"), placement=1, worker=0, workers=1, ranks_per_worker=1, boot="b", launcher="l",
    seq=1, sent_monotonic=1.0, sent_wall=2.0, stage=wire.STAGE_RUNNING, attempt=1, ranks=[RANK],
    durations={"step": {4: 2}}, checkpoints=wire.CheckpointScan([wire.Checkpoint(10, "/c", "Complete")]),
)))  # fmt: skip
AGENTS = json.loads(wire_agent.encode_report(wire_agent.AgentReport(
    node="node", boot="b", agent="a", seq=1, sent_monotonic=1.0, sent_wall=2.0, host="node",
    gpus=[wire_agent.GpuReport(index=0, values={"power_watts": 1.0})],
    findings=[wire_agent.Finding("ecc", "Failed", "DoubleBit", "Reset", "two bits", 0)],
    events=[wire_agent.GpuEvent("Xid", 79, "0000:9b:00.0")],
)))  # fmt: skip
HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nAuthorization: Bearer t\r\n"
NUMBERS = (0, -1, 2**63, 2**64, 10**30, 1e11, 1e308)
WORDS = (None, True, *NUMBERS, "", "x" * 70, [], {}, [[]], {"": {"": []}}, {"step": {"400": 1}})


def one(data: bytes) -> None:
    """Bytes as they are, or a report that is odd in places, through all that reads them."""
    provider = atheris.FuzzedDataProvider(data)
    kind = provider.ConsumeIntInRange(0, 3)
    if kind == 0:
        read(provider.ConsumeBytes(provider.remaining_bytes()))
    elif kind == 1:
        head = plain_head(HEAD + provider.ConsumeBytes(provider.remaining_bytes()))
        assert head is None or head.length >= 0
    else:
        odd: Any = json.loads(json.dumps(LAUNCHERS if kind == 2 else AGENTS))
        for _ in range(provider.ConsumeIntInRange(1, 3)):
            put(odd, provider)
        read(json.dumps(odd).encode())


def put(odd: Any, provider: Any) -> None:
    """Something else at one place."""
    while True:
        keys = list(odd) if isinstance(odd, dict) else list(range(len(odd)))
        if not keys:
            return
        key = provider.PickValueInList(keys)
        if not isinstance(odd[key], (dict, list)) or provider.ConsumeProbability() < 0.2:
            word = provider.ConsumeIntInRange(0, len(WORDS) + 2)
            odd[key] = (
                copy.deepcopy(WORDS[word]) if word < len(WORDS)
                else provider.ConsumeInt(9) if word == len(WORDS)
                else provider.ConsumeFloat() if word == len(WORDS) + 1
                else provider.ConsumeUnicode(80)
            )  # fmt: skip
            return
        odd = odd[key]


def refusal(decode: Any, body: bytes) -> str:
    """Why it is refused."""
    try:
        decode(body)
    except Malformed as error:
        return str(error)
    return "fine"


def read(body: bytes) -> None:
    """Through every decoder."""
    for decode in DECODERS:
        sentence = refusal(decode, body)
        assert sentence
        assert "\n" not in sentence
        assert len(sentence) < 1000
    quick = decode_quickly(body)
    if quick is not None:
        thorough = msgspec.json.decode(body, type=wire.Report)
        assert bounds.excess_beside_numbers(quick) == bounds.excess(thorough)
        let_go(quick)
        assert msgspec.convert(quick, wire.Report, from_attributes=True) == thorough


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()

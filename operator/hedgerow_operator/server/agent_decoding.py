"""Bytes from the network to an AgentReport, and what such a report may say at most."""

from collections.abc import Iterator

import msgspec

from hedgerow.wire_agent import VERSION, AgentReport
from hedgerow_operator.reconcile.agents import Outline
from hedgerow_operator.server.decoding import Malformed, decode

# A node has at most 16 GPUs today; 64 leaves room for switches that are counted as such.
MAX_GPUS = 64
MAX_ENTRIES = 1024
MAX_NAME = 253  # of a Kubernetes node
_MOST = 2.0**64


_outline_decoder = msgspec.json.Decoder(Outline)
_report_decoder = msgspec.json.Decoder(AgentReport)


def decode_outline(body: bytes) -> Outline:
    """Of the report in ``body`` what is looked at each time. Raises Malformed; the readings are not looked at."""
    outline = decode(_outline_decoder, body, VERSION)
    if not 0 < len(outline.node) <= MAX_NAME:
        raise Malformed(f"the report says what cannot be: the node's name has 1 to {MAX_NAME} characters")
    if max(len(outline.gpus), len(outline.findings), len(outline.events)) > MAX_ENTRIES:
        raise Malformed(f"the report says what cannot be: more than {MAX_ENTRIES} GPUs, findings or events")
    return outline


def decode_agent_report(body: bytes) -> AgentReport:
    """The report in ``body``. Raises Malformed. Unknown fields pass, an unknown version does not."""
    report = decode(_report_decoder, body, VERSION)
    beyond = next(_excesses(report), None)
    if beyond is not None:
        raise Malformed(f"the report says what cannot be: {beyond}")
    return report


def _excesses(report: AgentReport) -> Iterator[str]:
    if len(report.gpus) > MAX_GPUS:
        yield f"it names {len(report.gpus)} GPUs; at most {MAX_GPUS} are allowed"
    entries = len(report.findings) + len(report.events) + len(report.around.disks) + len(report.around.links)
    if entries + len(report.dropped) + len(report.broken) > MAX_ENTRIES:
        yield f"it has more than {MAX_ENTRIES} findings, events, disks and links"
    if not -_MOST < report.seq < _MOST or not abs(report.sent_monotonic) < _MOST or not abs(report.sent_wall) < _MOST:
        yield "seq or a time does not fit into 64 bits"
    if not _fit(report.around.values):
        yield "a value of the host does not fit into 64 bits"
    seen = set()
    for gpu in report.gpus:
        seen.add(gpu.index)
        if not 0 <= gpu.index < 2**16 or not 0.0 <= gpu.age < _MOST:
            yield "the index or age of a GPU is out of bounds"
        if len(gpu.values) > 128 or not _fit(gpu.values):
            yield "a GPU has a value that does not fit into 64 bits, or more than 128 of them"
    if len(seen) < len(report.gpus):
        yield "it names a GPU twice"


def _fit(values: dict[str, float]) -> bool:
    return not values or (min(values.values()) > -_MOST and max(values.values()) < _MOST)

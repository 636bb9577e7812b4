"""Lines of NCCL and of sockets about the network, and about collectives that do not match."""

import re
from typing import Any

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.speaker import Speaker

# NCCL's wording changed from "with error 12" to "with status=12", with IBV_WC_RETRY_EXC_ERR and the peer beside it.
_COMPLETION = re.compile(
    r"NET/IB ?: (?:\S+ )?Got completion(?: from peer (?P<peer>\S+))? with (?:error |status=)(?P<status>\d{1,4})"
)
_FABRIC = re.compile(
    r"NET/IB ?: .*(?:async (?:fatal )?event|port error|QP (?:fatal )?error)|ibv_modify_qp failed|No route to host"
    r"|Network is unreachable|link (?:is )?down\b.*(?:mlx|ib|eth)|(?:mlx|ib|eth)\S* .*link (?:is )?down",
    re.IGNORECASE,
)
# These say that the other side is gone, which has a cause of its own.
_PEER_GONE = re.compile(
    r"[Cc]onnection (?:closed|reset|refused|aborted) by (?:remote )?(?:peer|host)|remote process exited"
    r"|ncclRemoteError|ncclSystemError|Broken pipe|socketProgress|Connection reset by peer|Connection closed by"
)
_NCCL = re.compile(r"NCCL|nccl|c10d|ProcessGroup|[Ss]ocket|TCPStore|[Gg]loo")
# Each line that matters here holds one of these; looking for them costs less than the patterns.
_WORDS = ("NCCL", "nccl", "ocket", "TCPStore", "loo", "c10d", "NET/IB", "ibv_", "o route", "nreachable", "link")
_OUT_OF_ORDER = re.compile(r"Mismatched collective detected.*?around rank (?P<rank>\d{1,6})")
_FINGERPRINT = re.compile(
    r"Detected mismatch between collectives on ranks\. Rank (?P<rank>\d{1,6}) is running collective: "
    r"CollectiveFingerPrint\((?:SequenceNumber=(?P<seq>\d{1,18}), ?)?OpType=(?P<op>\w+)"
)
_OTHERS = re.compile(r"Rank (\d{1,6}) is running collective")
_PEER = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}<\d+>")


def mismatch_event(text: str, line: int) -> LogEvent | None:
    """Ranks that call different collectives: a fault of the program, with the place to look."""
    if "ismatch" not in text:
        return None
    if found := _FINGERPRINT.search(text):
        ranks = sorted({int(rank) for rank in _OTHERS.findall(text)})
        return LogEvent(
            kind=EventKind.COLLECTIVE_MISMATCH,
            rank=int(found["rank"]),
            op=found["op"],
            seq=int(found["seq"]) if found["seq"] else None,
            line=line,
            fault_class=FaultClass.APPLICATION,
            text=shortened(text),
            details={"ranks": ranks},
        )
    if found := _OUT_OF_ORDER.search(text):
        return LogEvent(
            kind=EventKind.COLLECTIVE_MISMATCH,
            rank=int(found["rank"]),
            line=line,
            fault_class=FaultClass.APPLICATION,
            text=shortened(text),
            details={"placeToLook": True},
        )
    return None


def network_event(text: str, speaker: Speaker, line: int) -> LogEvent | None:
    """Trouble of the network itself, or a connection that ended because the other side is gone."""
    if not any(word in text for word in _WORDS):
        return None
    if found := _COMPLETION.search(text):
        details: dict[str, Any] = {"status": int(found["status"])}
        if found["peer"]:
            details["peer"] = found["peer"]
        return _event(text, speaker, line, FaultClass.NETWORK, details)
    if _FABRIC.search(text):
        return _event(text, speaker, line, FaultClass.NETWORK, {})
    if _PEER_GONE.search(text) and _NCCL.search(text):
        peer = _PEER.search(text)
        return _event(text, speaker, line, FaultClass.UNKNOWN, {"peer": peer[0]} if peer else {})
    return None


def _event(text: str, speaker: Speaker, line: int, fault_class: FaultClass, details: dict[str, Any]) -> LogEvent:
    return LogEvent(
        kind=EventKind.NETWORK_ERROR,
        rank=speaker.best_rank if speaker.sure else None,
        line=line,
        fault_class=fault_class,
        consequence=fault_class is not FaultClass.NETWORK,
        text=shortened(text),
        details=details,
    )

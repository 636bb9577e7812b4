"""What others say of nodes: which of it a job listens to, and what it says in a sentence."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from hedgerow.wire_agent import ACTION_INSPECT, FAILED, Finding
from hedgerow_operator.api import reasons
from hedgerow_operator.api.node_signals import PRESETS, NodeSignalSpec
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.nodes.blame import Blame

CHECK = "nodeSignals"


class Signal(Struct, frozen=True, order=True):
    """One thing to look for. value: of a condition its status, of a label its value (None: any)."""

    kind: Literal["condition", "label", "taint"]
    key: str
    value: str | None = None


class NodeLooks(Struct, frozen=True, kw_only=True):
    """What others write on a node. conditions: type -> status and reason. taints: keys."""

    conditions: Mapping[str, tuple[str, str]] = {}
    taints: frozenset[str] = frozenset()
    labels: Mapping[str, str] = {}


def signals_of(specs: Iterable[NodeSignalSpec]) -> tuple[Signal, ...]:
    """What to look for, presets written out, each once."""
    found: dict[Signal, None] = {}
    for spec in specs:
        for one in PRESETS[spec.preset] if spec.preset else (spec,):
            found[_signal(one)] = None
    return tuple(found)


def _signal(spec: NodeSignalSpec) -> Signal:
    if spec.condition_type is not None:
        return Signal("condition", spec.condition_type, spec.status or "True")
    if spec.taint_key is not None:
        return Signal("taint", spec.taint_key)
    key, equals, value = (spec.label or "").partition("=")
    return Signal("label", key, value if equals else None)


def sentence(signal: Signal, looks: NodeLooks) -> str:
    """What the node says of it, as the end of a sentence; empty: it does not say it."""
    if signal.kind == "condition":
        status, reason = looks.conditions.get(signal.key, ("", ""))
        because = f" ({reason})" if reason else ""
        return f"its condition {signal.key} is {status}{because}" if status == signal.value else ""
    if signal.kind == "taint":
        return f"it has the taint {signal.key}" if signal.key in looks.taints else ""
    value = looks.labels.get(signal.key)
    if value is None or signal.value not in (None, value):
        return ""
    return f"it has the label {signal.key}={value}"


def marks(gang: Gang, signals: Mapping[str, str]) -> tuple[Blame, ...]:
    """The nodes of the gang that others speak against, as what failed under its ranks. signals: sentences by node."""
    by_node: dict[str, list[RankView]] = {}
    for rank in gang.ranks if signals else ():
        if rank.node in signals:
            by_node.setdefault(rank.node, []).append(rank)
    return tuple(
        Blame(
            node=node,
            finding=Finding(CHECK, FAILED, reasons.NODE_SIGNAL, ACTION_INSPECT, signals[node]),
            ranks=tuple(ranks),
            sure=False,
            word="is not to be used",
        )
        for node, ranks in by_node.items()
    )

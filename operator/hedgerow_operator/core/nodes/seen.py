"""What the shell observed of one node, and the times that the decision goes by: frozen structs."""

from collections.abc import Iterable

from msgspec import Struct

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api.gpu_node import GPUNodeStatus

# An agent in calm is heard every 5 s, every 10 s by an operator that has too much to do.
SILENT_SECONDS = 30.0
# A node that was reset or rebooted is given so long to show the same fault again before it is used again.
QUARANTINE_SECONDS = 600.0
# A node whose agent says nothing any more cannot clear itself: another day with it costs less than a node for good.
EXPIRY_SECONDS = 86400.0
# With so many of the agents silent at once it is the way to us that is broken, or we are.
OUR_FAULT_SHARE = 0.5
# Agents that fall silent together were last heard at different moments: when the first of them counts as silent, those
# that have been missed for so much of that time are about to.
ABOUT_SHARE = 0.5


class NodeRules(Struct, frozen=True, kw_only=True):
    """silent_seconds: without a report from then on a node is not measured. quarantine_seconds: how long a quarantine
    outlasts its cause. expiry_seconds: after so long without a word from the agent it ends by itself."""

    silent_seconds: float = SILENT_SECONDS
    quarantine_seconds: float = QUARANTINE_SECONDS
    expiry_seconds: float = EXPIRY_SECONDS


class NodeSeen(Struct, frozen=True, kw_only=True):
    """One node at one moment.

    report, age: the newest report of its agent and the seconds since it came; None: none that is remembered.
    listening_seconds: how long this operator has been able to hear agents; silence shorter than that means nothing.
    others: how many of the agents are silent, as "5 of 9", where so many are that it is no fault of theirs; else empty.
    """

    report: AgentReport | None = None
    age: float | None = None
    listening_seconds: float
    others: str = ""


class NodePlan(Struct, frozen=True, kw_only=True):
    """status: to write when it differs from the one read. look_again: seconds."""

    status: GPUNodeStatus
    look_again: float


def many_silent(ages: Iterable[float | None], silent_seconds: float) -> str:
    """How many of these agents (seconds since each was heard, None: never) are silent, as "5 of 9"; empty: too few to
    blame anything that they share."""
    known = list(ages)
    silent = sum(age is None or age > ABOUT_SHARE * silent_seconds for age in known)
    return f"{silent} of {len(known)}" if silent and silent >= OUR_FAULT_SHARE * len(known) else ""

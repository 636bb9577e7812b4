"""Whether a node can be asked, and whether anything can run on it. Pure."""

from msgspec import Struct

from hedgerow_operator.core.slurm.seen import SlurmNode

_SILENT_FLAGS = frozenset({"NOT_RESPONDING", "NO_RESPOND"})
_OFF = "POWERED_DOWN"


class NodeFacts(Struct, frozen=True, kw_only=True):
    """silent: its slurmd does not answer, so that what it started may live on. out: it is switched off, or Slurm has no
    such node any more.
    """

    silent: bool = False
    out: bool = False


FINE = NodeFacts()
SILENT = NodeFacts(silent=True)
GONE = NodeFacts(silent=True, out=True)


def node_facts(node: SlurmNode) -> NodeFacts:
    """What its state says. A node that an administrator calls down, and that answers, has ended what ran on it."""
    silent = bool(_SILENT_FLAGS & node.flags) or node.state == "UNKNOWN"
    off = _OFF in node.flags or node.state == _OFF
    return NodeFacts(silent=silent or off, out=off)

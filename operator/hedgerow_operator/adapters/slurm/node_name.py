"""The name of one node, as it may be put into an order to Slurm."""

import re

from hedgerow_operator.reconcile.ports import Refused

_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def one_node(name: str) -> str:
    """The name itself. Raises Refused for what is none: a list in its place would drain many."""
    if not _NODE.fullmatch(name):
        raise Refused(f"{name!r} is no name of a node")
    return name

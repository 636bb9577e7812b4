"""The machine around the GPUs: memory, kills for lack of it, disks, network, clock. One file a check."""

from collections.abc import Sequence

from hedgerow_agent.host.base import HostCheck
from hedgerow_agent.host.clock import Clock
from hedgerow_agent.host.disk import Disk
from hedgerow_agent.host.memory import Memory
from hedgerow_agent.host.network import Network


def host_checks(checkpoint_paths: Sequence[str]) -> list[HostCheck]:
    """Every check of the machine, new."""
    return [Memory(), Disk(checkpoint_paths), Network(), Clock()]

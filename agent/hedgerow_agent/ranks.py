"""Whose process it is that computes on a GPU: read from its environment on this node, so that no PIDs are mapped."""

from collections import OrderedDict

from hedgerow.wire_agent import GpuProcess
from hedgerow_agent.devices.base import Process
from hedgerow_agent.host.base import text

_KNOWN = ("HEDGEROW_JOB_UID", "HEDGEROW_ATTEMPT", "RANK", "CUDA_VISIBLE_DEVICES")
_MAX_REMEMBERED = 1024
_LONGEST_WORD = 256


class Ranks:
    """Processes of GPUs, with what their environment says of them. root: where /proc of the host is."""

    def __init__(self, root: str) -> None:
        self._root = root
        # (pid, when it began) -> (PID in its own namespace, its words)
        self._remembered: OrderedDict[tuple[int, str], tuple[int | None, dict[str, str]]] = OrderedDict()

    def of(self, process: Process) -> GpuProcess:
        """The process as reports say it; where nothing of it may be read, its PID alone."""
        container_pid, words = self._look(process.pid)
        return GpuProcess(
            process.pid, process.memory_bytes, container_pid, words.get("HEDGEROW_JOB_UID", ""),
            _whole(words.get("RANK")), _whole(words.get("HEDGEROW_ATTEMPT")), words.get("CUDA_VISIBLE_DEVICES"),
            process.instance,
        )  # fmt: skip

    def _look(self, pid: int) -> tuple[int | None, dict[str, str]]:
        began = self._began(pid)
        if not began:
            return None, {}
        key = (pid, began)
        if key not in self._remembered:
            self._remembered[key] = (self._container_pid(pid), self._environment(pid))
            while len(self._remembered) > _MAX_REMEMBERED:
                self._remembered.popitem(last=False)
        return self._remembered[key]

    def _began(self, pid: int) -> str:
        """Field 22 of /proc/PID/stat; the name in it may hold anything, so it is counted from its end."""
        fields = (text(self._root, f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
        return fields[19] if len(fields) > 19 else ""

    def _container_pid(self, pid: int) -> int | None:
        for line in (text(self._root, f"/proc/{pid}/status") or "").splitlines():
            if line.startswith("NSpid:"):
                return _whole(line.split()[-1])
        return None

    def _environment(self, pid: int) -> dict[str, str]:
        """Of the environment only the words that are known: the rest may be secret."""
        entries = (text(self._root, f"/proc/{pid}/environ") or "").split("\0")
        pairs = (entry.partition("=") for entry in entries)
        return {name: value[:_LONGEST_WORD] for name, _, value in pairs if name in _KNOWN}


def _whole(word: str | None) -> int | None:
    return int(word) if word is not None and word.isascii() and word.isdigit() and len(word) < 10 else None

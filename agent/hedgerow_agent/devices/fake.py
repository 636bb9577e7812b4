"""GPUs that a file plays: the agent above them cannot tell. A file that changes is read anew, and begins anew."""

import os
import threading
import uuid
from collections.abc import Callable
from typing import Any

from hedgerow_agent.devices import fake_ranks
from hedgerow_agent.devices.base import (
    Device,
    Gone,
    Identity,
    Instance,
    Missing,
    Process,
    Unavailable,
    Values,
    Versions,
)
from hedgerow_agent.devices.fake_file import HUNG, LOST, PRESENT, RANKS, UNLISTED, FakeGpu, Scene, Script, load
from hedgerow_agent.devices.smi_xml import number
from hedgerow_agent.log import say

_HANG_POLL_SECONDS = 0.05
_REREAD_SECONDS = 0.5
_RANKS_SECONDS = 5.0
_UTILISATION = (
    "utilisation_",
    "memory_utilisation",
    "memory_used",
    "memory_total",
    "graphics_",
    "sm_activity",
    "tensor_",
)


class FakeSource:
    """The GPUs of one fake file. clock: seconds, monotonic. node: makes UUIDs that no other node's GPUs have.

    root: where /proc of the host is.
    """

    name = "fake"

    def __init__(self, path: str, clock: Callable[[], float], node: str = "", root: str = "") -> None:
        self._path = path
        self._root = root
        self._ranks: dict[int, list[int]] = {}
        self._ranks_due = 0.0
        self.node = node
        self._clock = clock
        self._lock = threading.Lock()
        self._stamp = self._file_stamp()
        self._looked = clock()
        self._script: Script = load(path)
        self._begun = clock()
        self._told = -1
        self._version = ""
        self._scene: tuple[int, Scene] | None = None

    def open(self) -> Versions:
        """Versions that the file says."""
        scene = self.scene()
        if scene.trouble is not None:
            raise Unavailable(f"the fake driver says: {scene.trouble}")
        self._version = scene.version
        return Versions(scene.version, "fake")

    def devices(self) -> list[Device | Missing]:
        """Every GPU of the file that is listed now."""
        scene = self.scene()
        if scene.trouble is not None:
            raise Unavailable(f"the fake driver says: {scene.trouble}")
        if scene.version != self._version:
            raise Unavailable("the driver was loaded anew")
        return [self._device(index, gpu) for index, gpu in enumerate(scene.gpus) if gpu.state != UNLISTED]

    def close(self) -> None:
        """There is nothing to let go of."""

    def expected(self) -> int:
        """How many GPUs the file system would show: also those that are lost or not listed."""
        return len(self.scene().gpus)

    def load(self) -> str:
        """A word for this load of the driver: another one after each time that it was away, and for each version."""
        scene = self.scene()
        return f"{scene.version} {scene.loads}"

    def scene(self) -> Scene:
        """How things are now."""
        with self._lock:
            self._reread()
            elapsed = self.elapsed()
            passed = self._script.passed(elapsed)
            if self._scene is None or self._scene[0] != passed:
                self._scene = (passed, self._script.scene(elapsed))
            return self._scene[1]

    def elapsed(self) -> float:
        """Seconds since the story began."""
        return self._clock() - self._begun

    def kernel_lines(self) -> list[str]:
        """What the kernel's log got since this was last asked."""
        fresh = [(place, line) for place, line in self.scene().kernel if place > self._told]
        if fresh:
            self._told = fresh[-1][0]
        return [line for _, line in fresh]

    def ranks(self) -> dict[int, list[int]]:
        """GPU index -> PIDs of the ranks of this node, looked for every few seconds."""
        with self._lock:
            if self._clock() >= self._ranks_due:
                self._ranks_due = self._clock() + _RANKS_SECONDS
                self._ranks = fake_ranks.by_gpu(self._root, len(self._scene[1].gpus) if self._scene else 0)
            return self._ranks

    def _device(self, index: int, gpu: FakeGpu) -> "Device | Missing":
        if gpu.state in (PRESENT, HUNG):
            return FakeDevice(self, index)
        return Missing(index, "GPU is lost" if gpu.state == LOST else gpu.state, gpu.pci)

    def _reread(self) -> None:
        if self._clock() - self._looked < _REREAD_SECONDS:
            return
        self._looked, stamp = self._clock(), self._file_stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._script = load(self._path)
        except ValueError as error:
            say(f"{error}; what was read before goes on")
            return
        self._begun, self._told, self._scene = self._clock(), -1, None

    def _file_stamp(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_size)


class FakeDevice:
    """One GPU of a fake file."""

    def __init__(self, source: FakeSource, index: int) -> None:
        self._source = source
        gpu = source.scene().gpus[index]
        made_up = uuid.uuid5(uuid.NAMESPACE_OID, f"{source.node} {index}")
        self.identity = Identity(index, gpu.uuid or f"GPU-{made_up}", gpu.pci, gpu.name, gpu.serial)

    def utilisation(self) -> Values:
        """As the file says."""
        return self._of(*_UTILISATION)

    def power(self) -> Values:
        """As the file says."""
        return self._of("power_")

    def temperature(self) -> Values:
        """As the file says."""
        return self._of("temperature_", "memory_temperature", "slowdown_", "shutdown_", "highest_memory_temperature")

    def clocks(self) -> Values:
        """As the file says."""
        return self._of("sm_clock", "memory_clock", "highest_sm_clock")

    def throttle_reasons(self) -> list[str] | None:
        """As the file says."""
        return self._gpu().throttle_reasons

    def ecc(self) -> Values:
        """As the file says."""
        return self._of("ecc_")

    def remapped_rows(self) -> Values:
        """As the file says."""
        return self._of("remap", "retired_")

    def nvlink(self) -> Values:
        """As the file says."""
        return self._of("nvlink_")

    def pcie(self) -> Values:
        """As the file says."""
        return self._of("pcie_")

    def processes(self) -> list[Process] | None:
        """As the file says."""
        found = self._gpu().processes
        if found is None or isinstance(found, str):
            pids = self._source.ranks().get(self.identity.index, []) if found == RANKS else None
            return None if pids is None else [Process(pid) for pid in pids]
        return [Process(int(one["pid"]), one.get("memory_bytes"), one.get("instance")) for one in found]

    def mig(self) -> Values:
        """As the file says."""
        return self._of("mig_")

    def instances(self) -> list[Instance]:
        """As the file says."""
        return [
            Instance(
                index,
                one.get("gpu_instance"),
                one.get("compute_instance"),
                str(one.get("uuid", "")),
                self._numbers(one.get("values") or {}),
            )
            for index, one in enumerate(self._gpu().instances)
        ]

    def recovery(self) -> Values:
        """As the file says."""
        return self._of("recovery_", "reset_")

    def _of(self, *prefixes: str) -> Values:
        values = self._gpu().values
        return self._numbers({name: value for name, value in values.items() if name.startswith(prefixes)})

    def _numbers(self, values: dict[str, Any]) -> Values:
        found = {name: _number(value, self._source.elapsed()) for name, value in values.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _gpu(self) -> FakeGpu:
        """It, once it answers: a GPU that hangs lets its caller wait."""
        never = threading.Event()
        while True:
            scene = self._source.scene()
            if scene.trouble is not None:
                raise Unavailable(f"the fake driver says: {scene.trouble}")
            index = self.identity.index
            if index >= len(scene.gpus) or scene.gpus[index].state not in (PRESENT, HUNG):
                raise Gone(scene.gpus[index].state if index < len(scene.gpus) else "not in the file any more")
            if scene.gpus[index].state == PRESENT:
                return scene.gpus[index]
            never.wait(_HANG_POLL_SECONDS)


def _number(value: Any, elapsed: float) -> float | None:
    if isinstance(value, dict):
        return float(value.get("start", 0)) + float(value.get("per_second", 0)) * elapsed
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, int | float) else number(None if value is None else str(value))

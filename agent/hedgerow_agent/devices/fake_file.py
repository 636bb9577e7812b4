"""A file that says how GPUs behave, and when: read, checked, and turned into what holds at a given second.

gpus:
- profile: a100            # of devices/profiles, or nvidia-smi: FILE.xml
  count: 8
  processes: ranks         # those of this node; or a list of {pid, memory_bytes}
  values: {power_watts: 350, utilisation_percent: 100, nvlink_transmitted_bytes: {start: 0, per_second: 2.0e10}}
script:
- {at: 30, gpu: 3, set: {power_watts: 90}}
- {at: 40, gpu: 3, state: Lost}                    # Present, Lost, Hung, or words of the driver
- {at: 40, kernel: "NVRM: Xid (PCI:0000:03:00): 79, GPU has fallen off the bus."}
- {at: 60, driver: "Driver Not Loaded"}            # null: it was loaded anew
"""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.pci import pci_address
from hedgerow.wire_agent import GPU_VALUES
from hedgerow_agent import yaml_text
from hedgerow_agent.devices import smi_xml
from hedgerow_agent.devices.profiles import profile

# Instead of a list of processes: the ranks that really run on this node, each on the GPU of its LOCAL_RANK.
RANKS = "ranks"
PRESENT, LOST, HUNG, UNLISTED = "Present", "Lost", "Hung", "Unlisted"
_GPU_FIELDS = {
    "profile", "nvidia-smi", "count", "uuid", "pci", "name", "serial", "values", "throttle_reasons", "processes",
    "instances", "state",
}  # fmt: skip
_STEP_FIELDS = {"at", "gpu", "set", "state", "kernel", "driver", "version", "throttle_reasons", "processes"}
MAX_GPUS = 64


@dataclass
class FakeGpu:
    """How one GPU is at one moment. since: seconds from which rising counters count."""

    uuid: str
    pci: str
    name: str
    serial: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    throttle_reasons: list[str] | None = None
    processes: list[dict[str, Any]] | str | None = None
    instances: list[dict[str, Any]] = field(default_factory=list)
    state: str = PRESENT


@dataclass
class Scene:
    """How all of it is at one moment. kernel: (index of the step, line) of the kernel's log so far."""

    gpus: list[FakeGpu]
    version: str
    trouble: str | None = None
    loads: int = 1
    kernel: list[tuple[int, str]] = field(default_factory=list)


class Script:
    """A fake file, read."""

    def __init__(self, first: Scene, steps: list[dict[str, Any]]) -> None:
        self._first = first
        self._steps = steps

    def scene(self, elapsed: float) -> Scene:
        """How things are so many seconds after the beginning."""
        scene = copy.deepcopy(self._first)
        for place, step in enumerate(self._steps):
            if step["at"] <= elapsed:
                _apply(scene, place, step)
        return scene

    def passed(self, elapsed: float) -> int:
        """How many steps are over: while that is the same, so is the scene."""
        return sum(step["at"] <= elapsed for step in self._steps)


def load(path: str) -> Script:
    """The script in a file; ValueError says in one sentence what to write instead."""
    return script(yaml_text.read(path), path)


def script(content: Any, path: str) -> Script:
    """The script that parsed content means. path: where it is from, for messages and files next to it."""
    if not isinstance(content, dict) or not isinstance(content.get("gpus"), list):
        raise ValueError(f"{path}: expected a mapping with a list `gpus`")
    _only(content, {"gpus", "script", "driver"}, path)
    gpus: list[FakeGpu] = []
    driver = str(content.get("driver", ""))
    for place, entry in enumerate(content["gpus"]):
        version = _add(gpus, entry, f"{path}: gpus[{place}]", Path(path).parent)
        driver = driver or version
    steps = [
        _step(entry, f"{path}: script[{place}]", len(gpus)) for place, entry in enumerate(content.get("script") or [])
    ]
    return Script(Scene(gpus, driver or "0"), sorted(steps, key=lambda step: float(step["at"])))


def _add(gpus: list[FakeGpu], entry: Any, where: str, folder: Path) -> str:
    _only(entry, _GPU_FIELDS, where)
    version, base = _base(entry, where, folder)
    count = entry.get("count", 1)
    if not isinstance(count, int) or not 1 <= count <= MAX_GPUS - len(gpus):
        raise ValueError(f"{where}.count is {count!r}; expected a whole number, {MAX_GPUS} GPUs in all at most")
    _processes(entry.get("processes"), where)
    values = {**base["values"], **_values(entry.get("values") or {}, f"{where}.values")}
    for _ in range(count):
        index = len(gpus)
        pci = pci_address(str(entry.get("pci") or base.get("pci") or "")) if count == 1 else ""
        gpus.append(
            FakeGpu(
                uuid=str(entry.get("uuid") or ""),
                pci=pci or f"0000:{index + 1:02x}:00.0",
                name=str(entry.get("name") or base["name"]),
                serial=str(entry.get("serial") or ""),
                values=dict(values),
                throttle_reasons=entry.get("throttle_reasons", base.get("throttle_reasons")),
                processes=entry.get("processes", base.get("processes")),
                instances=entry.get("instances", base.get("instances") or []),
                state=str(entry.get("state", PRESENT)),
            )
        )
    return version


def _processes(given: Any, where: str) -> None:
    entries = given if isinstance(given, list) else []
    good = given is None or given == RANKS or isinstance(given, list)
    if not good or not all(isinstance(one, dict) and isinstance(one.get("pid"), int) for one in entries):
        raise ValueError(f"{where}.processes is {given!r}; expected {RANKS}, or a list of {{pid, memory_bytes}}")


def _base(entry: dict[str, Any], where: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """(driver version, what the profile or the nvidia-smi report says)."""
    if "nvidia-smi" in entry:
        version, described = smi_xml.read((folder / str(entry["nvidia-smi"])).read_text())
        if not described:
            raise ValueError(f"{where}: no GPU in {entry['nvidia-smi']}")
        first = described[0]
        processes = [{"pid": one.pid, "memory_bytes": one.memory_bytes} for one in first.processes or []]
        instances = [{"gpu_instance": one.gpu_instance, "values": one.values} for one in first.instances]
        return version, {
            "name": first.identity.name, "pci": first.identity.pci, "values": first.values,
            "throttle_reasons": first.throttle_reasons, "processes": processes, "instances": instances,
        }  # fmt: skip
    try:
        found = profile(str(entry.get("profile", "a100")))
    except ValueError as error:
        raise ValueError(f"{where}.profile: {error}") from None
    return str(found.get("driver", "")), found


def _step(entry: Any, where: str, gpus: int) -> dict[str, Any]:
    _only(entry, _STEP_FIELDS, where)
    at = entry.get("at", 0)
    if isinstance(at, bool) or not isinstance(at, int | float):
        raise ValueError(f"{where}.at is {at!r}; expected seconds since the beginning")
    gpu = entry.get("gpu")
    if gpu is not None and (not isinstance(gpu, int) or not 0 <= gpu < gpus):
        raise ValueError(f"{where}.gpu is {gpu!r}; expected an index below {gpus}, or nothing for all of them")
    _processes(entry.get("processes"), where)
    return {**entry, "at": at, "set": _values(entry.get("set") or {}, f"{where}.set")}


def _values(values: Any, where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise ValueError(f"{where} is {values!r}; expected names with numbers")
    for name in values:
        if name not in GPU_VALUES:
            raise ValueError(f"{where}: no value is called {name!r}; there are {', '.join(GPU_VALUES)}")
    return values


def _only(entry: Any, known: set[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is {entry!r}; expected a mapping")
    unknown = sorted(set(entry) - known)
    if unknown:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _apply(scene: Scene, place: int, step: dict[str, Any]) -> None:
    chosen = scene.gpus if step.get("gpu") is None else [scene.gpus[step["gpu"]]]
    for gpu in chosen:
        gpu.values.update(step["set"])
        for name in ("throttle_reasons", "processes", "state"):
            if name in step:
                setattr(gpu, name, step[name])
    if "kernel" in step:
        scene.kernel.append((place, str(step["kernel"])))
    if "driver" in step:
        scene.loads += scene.trouble is not None and step["driver"] is None
        scene.trouble = step["driver"]
    if "version" in step:
        scene.version = str(step["version"])

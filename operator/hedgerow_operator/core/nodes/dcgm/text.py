"""The text that a dcgm-exporter serves, sorted by GPU: pure reading, nothing is remembered.

The labels of a GPU are the same in each of its lines, so they are parsed once: a node of eight GPUs has hundreds of
lines, and there may be a thousand nodes.
"""

from collections.abc import Iterator

from msgspec import Struct, field
from prometheus_client.parser import text_string_to_metric_families

from hedgerow.pci import pci_address
from hedgerow.wire_agent import GpuContainer
from hedgerow_operator.core.nodes.dcgm.fields import KNOWN, OF_INSTANCE, XID, XID_COUNT, number

MAX_GPUS = 64
MAX_INSTANCES = 16
MAX_CONTAINERS = 64
MAX_XIDS = 32
UNREADABLE = "unreadable_lines"
_LONGEST_WORD = 253
_LONGEST_LABELS = 8192

Labels = dict[str, str]


class Unreadable(Exception):
    """This is not the text of a dcgm-exporter; the message is one sentence."""


class InstanceText(Struct):
    """A MIG instance. raw: numbers by DCGM's names, those that are blank left out."""

    raw: dict[str, float] = field(default_factory=dict)
    containers: list[GpuContainer] = field(default_factory=list)


class GpuText(Struct):
    """A GPU. xids: code -> how often within the exporter's window, where it counts them. containers: those that have
    the whole GPU. instances: by the number of their GPU instance."""

    index: int
    uuid: str = ""
    pci: str = ""
    name: str = ""
    raw: dict[str, float] = field(default_factory=dict)
    xids: dict[int, float] = field(default_factory=dict)
    containers: list[GpuContainer] = field(default_factory=list)
    instances: dict[int, InstanceText] = field(default_factory=dict)


class Exposition(Struct):
    """Everything of one text. dropped: as in AgentReport."""

    gpus: dict[int, GpuText] = field(default_factory=dict)
    driver: str = ""
    dropped: dict[str, int] = field(default_factory=dict)


def read(text: str) -> Exposition:
    """Raises Unreadable where no line is about a GPU. A line that makes no sense is counted, and the others go on."""
    found = Exposition()
    parsed: dict[str, Labels | None] = {}
    for line in text.split("\n"):
        name, _, rest = line.partition("{")
        if name not in KNOWN:
            continue
        inside, brace, tail = rest.rpartition("}")
        if inside not in parsed:
            parsed[inside] = _labels(inside)
        labels, words = parsed[inside], tail.split()
        if not brace or labels is None or not words or not _take(found, name, labels, words[0]):
            found.dropped[UNREADABLE] = found.dropped.get(UNREADABLE, 0) + 1
    if not found.gpus:
        raise Unreadable("it names no GPU in any metric of DCGM")
    return found


def _labels(inside: str) -> Labels | None:
    if len(inside) > _LONGEST_LABELS:
        return None
    try:
        (family,) = text_string_to_metric_families(f"line{{{inside}}} 1\n")
        (sample,) = family.samples
    except (ValueError, LookupError, AttributeError, TypeError):
        return None
    return {name: value[:_LONGEST_WORD] for name, value in sample.labels.items()}


def _take(found: Exposition, name: str, labels: Labels, word: str) -> bool:
    """Whether the line made sense."""
    index = _whole(labels.get("gpu", ""))
    if index is None or (index not in found.gpus and len(found.gpus) >= MAX_GPUS):
        return False
    if index not in found.gpus:
        found.gpus[index] = _gpu(index, labels)
    gpu = found.gpus[index]
    found.driver = found.driver or labels.get("DCGM_FI_DRIVER_VERSION", "")
    holder = _holder(gpu, labels)
    if holder is None:
        return False
    _note_container(holder, labels)
    value = number(word)
    if value is None:
        return True
    if name == XID_COUNT:
        return _note_xid(gpu, labels, value)
    # A line for each container that shares the GPU says the same again.
    target = holder.raw if name in OF_INSTANCE else gpu.raw
    if name == XID:
        target[name] = value or target.get(name, value)
    else:
        target.setdefault(name, value)
    return True


def _gpu(index: int, labels: Labels) -> GpuText:
    return GpuText(
        index=index,
        uuid=labels.get("UUID", ""),
        pci=pci_address(labels.get("pci_bus_id", "")),
        name=labels.get("modelName", ""),
    )


def _holder(gpu: GpuText, labels: Labels) -> GpuText | InstanceText | None:
    """What the line is about: the GPU, or an instance of it."""
    if not labels.get("GPU_I_ID"):
        return gpu
    number = _whole(labels["GPU_I_ID"])
    if number is None or (number not in gpu.instances and len(gpu.instances) >= MAX_INSTANCES):
        return None
    return gpu.instances.setdefault(number, InstanceText())


def _note_container(holder: GpuText | InstanceText, labels: Labels) -> None:
    told = dict(_container(labels))
    if "pod" in told and len(holder.containers) < MAX_CONTAINERS:
        container = GpuContainer(told.get("namespace", ""), told["pod"], told.get("container", ""))
        if container not in holder.containers:
            holder.containers.append(container)


def _container(labels: Labels) -> Iterator[tuple[str, str]]:
    """Older exporters have names of their own for it."""
    for word, older in (("namespace", "pod_namespace"), ("pod", "pod_name"), ("container", "container_name")):
        value = labels.get(word) or labels.get(older)
        if value:
            yield word, value


def _note_xid(gpu: GpuText, labels: Labels, count: float) -> bool:
    code = _whole(labels.get("xid", ""))
    if code is None:
        return False
    if code > 0 and count > 0 and (code in gpu.xids or len(gpu.xids) < MAX_XIDS):
        gpu.xids[code] = max(count, gpu.xids.get(code, 0.0))
    return True


def _whole(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else None

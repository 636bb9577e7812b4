"""A report as Prometheus text. Labels are bounded: GPUs by index and UUID, reasons and codes out of fixed lists."""

from collections.abc import Iterable, Iterator

from hedgerow.wire_agent import HEALTHS, AgentReport, GpuReport

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "hedgerow_gpu_"
# Ours -> the name that Prometheus users expect: base units, ratios instead of percent, counters that end in _total.
_COUNTERS = (
    "ecc_volatile_correctable_errors", "ecc_volatile_uncorrectable_errors", "ecc_aggregate_correctable_errors",
    "ecc_aggregate_uncorrectable_errors", "nvlink_transmitted_bytes", "nvlink_received_bytes", "nvlink_crc_errors",
    "nvlink_replay_errors", "nvlink_recovery_errors", "pcie_replays", "oom_kills",
)  # fmt: skip

Sample = tuple[str, dict[str, str], float]


def text(report: AgentReport) -> str:
    """All of it, grouped by name, each with its type. What is not measured is not there."""
    lines: list[str] = []
    grouped: dict[str, list[Sample]] = {}
    for sample in _samples(report):
        grouped.setdefault(sample[0], []).append(sample)
    for name, samples in grouped.items():
        lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
        lines += [f"{name}{_labels(labels)} {value!r}" for _, labels, value in samples]
    return "\n".join(lines) + "\n"


def _samples(report: AgentReport) -> Iterator[Sample]:
    yield "hedgerow_agent_info", {"node": report.node, "driver": report.driver.version}, 1.0
    yield "hedgerow_agent_driver_answers", {}, float(not report.driver.trouble)
    yield "hedgerow_agent_driver_reloads_total", {}, float(report.driver.reloads)
    yield from (("hedgerow_node_health", {"health": one}, float(one == report.health)) for one in HEALTHS)
    for gpu in report.gpus:
        yield from _of_gpu(gpu)
    for finding in report.findings:
        labels = {"check": finding.check, "reason": finding.reason, "health": finding.health, "action": finding.action}
        yield "hedgerow_finding", labels | ({} if finding.gpu is None else {"gpu": str(finding.gpu)}), 1.0
    for event in report.events:
        labels = {"kind": event.kind, "code": str(event.code), "pci": event.pci}
        yield "hedgerow_gpu_kernel_messages_total", labels, float(event.count)
    yield from (_value("hedgerow_node_", {}, name, value) for name, value in report.around.values.items())
    for disk in report.around.disks:
        if disk.free_bytes is not None:
            yield "hedgerow_node_disk_free_bytes", {"path": disk.path}, float(disk.free_bytes)
    for link in report.around.links:
        yield from _of_counts("hedgerow_node_network_", {"link": link.name}, (
            ("received_bytes_total", link.received_bytes), ("transmitted_bytes_total", link.transmitted_bytes),
            ("errors_total", link.errors), ("link_downs_total", link.downs),
        ))  # fmt: skip
    for name, count in report.dropped.items():
        yield "hedgerow_agent_dropped_values_total", {"value": name}, float(count)
    for name in report.broken:
        yield "hedgerow_agent_check_broken", {"check": name}, 1.0


def _of_gpu(gpu: GpuReport) -> Iterator[Sample]:
    labels = {"gpu": str(gpu.index), "uuid": gpu.uuid}
    yield _PREFIX + "info", labels | {"name": gpu.name, "pci": gpu.pci}, 1.0
    yield from ((_PREFIX + "health", labels | {"health": one}, float(one == gpu.health)) for one in HEALTHS)
    yield _PREFIX + "reachable", labels, float(gpu.state == "Present")
    yield from (_value(_PREFIX, labels, name, value) for name, value in gpu.values.items())
    for reason in gpu.throttle_reasons or []:
        yield _PREFIX + "throttled", labels | {"reason": reason}, 1.0
    for instance in gpu.instances:
        more = labels | {"instance": str(instance.index)}
        yield from (_value(_PREFIX + "instance_", more, name, value) for name, value in instance.values.items())
    if gpu.processes is not None:
        yield _PREFIX + "processes", labels, float(len(gpu.processes))


def _of_counts(prefix: str, labels: dict[str, str], counts: Iterable[tuple[str, int | None]]) -> Iterator[Sample]:
    return ((prefix + name, labels, float(count)) for name, count in counts if count is not None)


def _value(prefix: str, labels: dict[str, str], name: str, value: float) -> Sample:
    if name.endswith("_percent"):
        return prefix + name.removesuffix("_percent") + "_ratio", labels, value / 100.0
    return prefix + name + ("_total" if name in _COUNTERS else ""), labels, value


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = (
        f'{name}="{value.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34)).replace(chr(10), " ")}"'
        for name, value in labels.items()
    )
    return "{" + ",".join(escaped) + "}"

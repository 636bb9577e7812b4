"""A report for a person: a line for each GPU, and what there is to say."""

from hedgerow.wire_agent import AgentReport, GpuReport

_GIB = 2.0**30


def lines(report: AgentReport) -> list[str]:
    """Lines of text."""
    driver = report.driver
    found = [f"node {report.node}: {report.health}", f"driver: {driver.trouble or driver.version or 'unknown'}"]
    found += [_gpu(gpu) for gpu in report.gpus]
    for finding in report.findings:
        where = "node" if finding.gpu is None else f"GPU {finding.gpu}"
        found.append(f"{where}: {finding.health}, {finding.reason}: {finding.message} ({finding.action})")
    found += [f"check {name} is broken: {words}" for name, words in report.broken.items()]
    found.append(f"kernel log: {report.kernel_log}")
    return found


def _gpu(gpu: GpuReport) -> str:
    values = gpu.values
    parts = [
        _part(values.get("utilisation_percent"), 1.0, "% busy"),
        _part(values.get("memory_used_bytes"), 1 / _GIB, "GiB used"),
        _part(values.get("power_watts"), 1.0, "W"),
        _part(values.get("temperature_celsius"), 1.0, "°C"),
    ]
    return f"GPU {gpu.index} {gpu.name or gpu.uuid} {gpu.pci}: {gpu.state}, {gpu.health}; {', '.join(parts)}"


def _part(value: float | None, factor: float, unit: str) -> str:
    return f"{unit} not measured" if value is None else f"{value * factor:.0f} {unit}"

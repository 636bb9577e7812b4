"""The text that a dcgm-exporter serves, as tests make it: the counters of its default file, on GPUs that are well."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.wire_agent import AgentReport, GpuReport
from hedgerow_operator.core.nodes.dcgm.node import ExporterNode
from hedgerow_operator.core.nodes.dcgm.text import read

WELL = {
    "DCGM_FI_DEV_SM_CLOCK": "1410",
    "DCGM_FI_DEV_MEM_CLOCK": "1593",
    "DCGM_FI_DEV_MEMORY_TEMP": "41",
    "DCGM_FI_DEV_GPU_TEMP": "38",
    "DCGM_FI_DEV_POWER_USAGE": "67.030000",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "0",
    "DCGM_FI_DEV_GPU_UTIL": "98",
    "DCGM_FI_DEV_MEM_COPY_UTIL": "31",
    "DCGM_FI_DEV_XID_ERRORS": "0",
    "DCGM_FI_DEV_FB_FREE": "70000",
    "DCGM_FI_DEV_FB_USED": "11000",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "0",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": "0",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "0",
}


def line(metric: str, value: str, gpu: int = 0, **labels: str) -> str:
    """One line, with the labels that the exporter gives to all."""
    told = {
        "gpu": str(gpu),
        "UUID": f"GPU-{gpu}",
        "pci_bus_id": f"00000000:0{gpu}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA A100-SXM4-80GB",
        "Hostname": "dcgm-exporter-x7k2p",
        "DCGM_FI_DRIVER_VERSION": "550.54.15",
        **labels,
    }
    inside = ",".join(f'{name}="{word}"' for name, word in told.items())
    return f"{metric}{{{inside}}} {value}\n"


def text(
    gpus: int = 2,
    at: float = 0.0,
    changes: Mapping[int, Mapping[str, str]] | None = None,
    without: tuple[int, ...] = (),
) -> str:
    """A scrape at this second. changes: by GPU, metric -> value, "" to leave it out. without: GPUs to leave out."""
    found = ""
    for gpu in (index for index in range(gpus) if index not in without):
        shown = {**WELL, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": f"{1_000_000 + at * 67030:.0f}"}
        for metric, value in {**shown, **(changes or {}).get(gpu, {})}.items():
            if value:
                found += f"# HELP {metric} What it is.\n# TYPE {metric} gauge\n{line(metric, value, gpu)}"
    return found


class Scrapes:
    """An exporter's node over a clock of its own."""

    def __init__(self, node: str = "node-1") -> None:
        self.node = ExporterNode(node)
        self.now = 1000.0
        self.process = "exporter-1"

    def take(self, served: str, after: float = 4.0) -> AgentReport:
        """The report of what is served so many seconds after the scrape before."""
        self.now += after
        return self.node.take(read(served), self.process, self.now, 1_767_322_800.0 + self.now)


def first(report: AgentReport) -> GpuReport:
    """Its GPU 0."""
    return report.gpus[0]

"""Every value that the agent can read, read of the GPUs that are here."""

from typing import Any

import agent_process

from hedgerow.wire_agent import GPU_VALUES

# What every data-centre GPU of the last ten years tells. With MIG on, utilisation is not among it.
ALWAYS = ("memory_total_bytes", "memory_used_bytes", "power_watts", "temperature_celsius", "sm_clock_hertz")


def part(python: str, gpus: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Values of each GPU; AssertionError says what is wrong with them."""
    report = agent_process.once()
    assert not report.get("broken"), f"checks are broken: {report['broken']}"
    assert not report.get("dropped"), f"values were out of their range: {report['dropped']}"
    lines = []
    for gpu in report["gpus"]:
        found = gpu.get("values", {})
        lacking = [name for name in ALWAYS if name not in found]
        assert not lacking, f"GPU {gpu['index']} lacks {', '.join(lacking)}"
        assert gpu.get("uuid", "").startswith("GPU-"), f"GPU {gpu['index']} has no UUID"
        assert gpu.get("pci"), f"GPU {gpu['index']} has no PCI address"
        lines += [f"GPU {gpu['index']} {gpu['uuid']} {gpu['pci']}: {gpu.get('health', 'Healthy')}"]
        lines += [f"  {name} = {value:g}" for name, value in sorted(found.items())]
        lines += [f"  not told: {', '.join(sorted(set(GPU_VALUES) - set(found)))}"]
        lines += [f"  clocks held down by: {', '.join(gpu.get('throttle_reasons') or []) or 'nothing'}"]
    lines += [f"finding: {one['reason']}: {one['message']}" for one in report.get("findings", [])]
    return lines, {"valuesTold": len(report["gpus"][0].get("values", {})), "valuesKnown": len(GPU_VALUES)}

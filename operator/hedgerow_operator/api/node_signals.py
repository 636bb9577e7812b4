"""``spec.health.nodeSignals``: what others say of nodes, and what the presets stand for."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from hedgerow_operator.api.model import StrictModel

MAX_SIGNALS = 16
LABEL_PATTERN = r"^[^=\s]+(=[^=\s]*)?$"

ConditionStatus = Literal["True", "False", "Unknown"]
Preset = Literal["NodeProblemDetector", "NVSentinel", "HyperPod"]


class NodeSignalSpec(StrictModel, frozen=True, kw_only=True):
    """One thing that others say of a node. Exactly one of preset, conditionType, taintKey and label is set."""

    preset: Annotated[
        Preset | None,
        Meta(description="What this tool says of nodes that are broken: NodeProblemDetector, NVSentinel or HyperPod."),
    ] = None
    condition_type: Annotated[
        Annotated[str, Meta(min_length=1, max_length=316)] | None,
        Meta(description="Type of a condition in the node's status, such as GpuUnhealthy."),
    ] = None
    status: Annotated[
        ConditionStatus | None,
        Meta(description="Status of that condition which counts against the node; unset: True."),
    ] = None
    taint_key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=316)] | None,
        Meta(description="Key of a taint, whatever its value and effect."),
    ] = None
    label: Annotated[
        Annotated[str, Meta(min_length=1, max_length=380, pattern=LABEL_PATTERN)] | None,
        Meta(description="A label as key=value, or its key alone for any value."),
    ] = None


def _conditions(*types: str) -> tuple[NodeSignalSpec, ...]:
    return tuple(NodeSignalSpec(condition_type=name) for name in types)


def _labels(*labels: str) -> tuple[NodeSignalSpec, ...]:
    return tuple(NodeSignalSpec(label=label) for label in labels)


# What each tool says of a node that is broken for good; what it says of passing trouble, of maintenance to come or of
# itself is left out.
PRESETS: dict[str, tuple[NodeSignalSpec, ...]] = {
    # github.com/kubernetes/node-problem-detector, config/: kernel-monitor, docker-monitor, health-checker, readonly.
    "NodeProblemDetector": _conditions(
        "KernelDeadlock", "ReadonlyFilesystem", "XfsShutdown", "CorruptDockerOverlay2", "KubeletUnhealthy",
        "ContainerRuntimeUnhealthy",
    ),
    # github.com/NVIDIA/NVSentinel, docs/INTEGRATIONS.md: conditions are True for fatal errors only. Its taints have
    # whatever keys its rules give them; the state label is set while it holds a node back.
    "NVSentinel": (
        *_conditions(
            "GpuMemWatch", "GpuThermalWatch", "GpuPcieWatch", "GpuPowerWatch", "GpuInforomWatch", "GpuSmWatch",
            "GpuNvlinkWatch", "GpuMcuWatch", "GpuPmuWatch", "GpuDriverWatch", "SysLogsXIDError", "SysLogsSXIDError",
            "SysLogsGPUFallenOff", "NVSwitchFatalError", "NVSwitchDown",
        ),
        *_labels(*(f"dgxc.nvidia.com/nvsentinel-state={state}" for state in (
            "quarantined", "draining", "drain-succeeded", "drain-failed", "remediating", "remediation-failed",
        ))),
    ),
    # docs.aws.amazon.com/sagemaker, "Resilience-related Kubernetes labels by SageMaker HyperPod".
    "HyperPod": _labels(
        "sagemaker.amazonaws.com/node-health-status=UnschedulablePendingReplacement",
        "sagemaker.amazonaws.com/node-health-status=UnschedulablePendingReboot",
        "sagemaker.amazonaws.com/deep-health-check-status=Failed",
    ),
}  # fmt: skip


def is_one_form(signal: NodeSignalSpec) -> bool:
    """Whether exactly one of its forms is used, and a status only with a condition."""
    forms = (signal.preset, signal.condition_type, signal.taint_key, signal.label)
    return sum(form is not None for form in forms) == 1 and (signal.status is None or signal.condition_type is not None)

"""One look at one GPU: every check takes its values, what cannot be true is dropped and counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hedgerow.wire_agent import GPU_VALUES, in_range
from hedgerow_agent.devices.base import Device, Gone, Instance, Process, Unavailable, Values


@dataclass
class Reading:
    """What one look gave. broken: check -> what went wrong in it.

    best: the highest of some values among GPUs of the same kind on this node, put in before it is judged.
    """

    values: Values = field(default_factory=dict)
    throttle_reasons: list[str] | None = None
    processes: list[Process] | None = None
    instances: list[Instance] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    best: Values = field(default_factory=dict)


class Sampler(Protocol):
    """The half of a check that asks the device."""

    name: str

    def sample(self, device: Device, reading: Reading) -> None:
        """Put what the device says into the reading."""


def read(device: Device, samplers: Sequence[Sampler]) -> Reading:
    """One look. A check that breaks is noted and the others go on; Gone and Unavailable end it."""
    reading = Reading()
    for sampler in samplers:
        try:
            sampler.sample(device, reading)
        except (Gone, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 (one broken check never stops the others)
            reading.broken[sampler.name] = f"{type(error).__name__}: {error}"[:200]
    reading.values = in_range(reading.values, GPU_VALUES, reading.dropped)
    for instance in reading.instances:
        kept = in_range(instance.values, GPU_VALUES, reading.dropped)
        instance.values.clear()
        instance.values.update(kept)
    return reading

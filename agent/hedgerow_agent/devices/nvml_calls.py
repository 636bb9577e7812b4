"""Calls of NVML about one handle: what cannot be told is None, and a GPU or driver that is gone is said so."""

import ctypes
from collections.abc import Sequence
from typing import Any

from hedgerow_agent.devices.base import Gone, Mismatch, Unavailable

# nvmlReturn_t
_NOT_LOADED, _UNINITIALISED, _LIBRARY_NOT_FOUND, _LOST, _RESET_REQUIRED, _MISMATCH, _NO_PERMISSION = (
    9,
    1,
    12,
    15,
    16,
    18,
    4,
)
_NOT_FOUND, _UNKNOWN = 28, 999
_DRIVER_GONE = (_UNINITIALISED, _NOT_LOADED, _LIBRARY_NOT_FOUND, _MISMATCH)
_WORDS = {
    _LIBRARY_NOT_FOUND: "libnvidia-ml.so.1 is not here: no NVIDIA driver is installed, or this container was started "
    "without the NVIDIA runtime",
    _NOT_LOADED: "the NVIDIA driver is not loaded (kernel module nvidia)",
    _MISMATCH: "the NVIDIA library and the loaded kernel driver have different versions: reload the driver or reboot; "
    "in a container, start the pod anew",
    _NO_PERMISSION: "/dev/nvidia* may not be opened: the agent has to run as root or in their group",
}
# nvmlValueType_t -> the member of nvmlValue_t
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


def unavailable(error: Any) -> Unavailable:
    """An NVMLError that concerns all GPUs, as one sentence that says what to do."""
    kind = Mismatch if error.value == _MISMATCH else Unavailable
    return kind(_WORDS.get(error.value, f"NVML cannot begin: {error}"))


class Calls:
    """Calls about one handle. reset_required: the driver refused some until the GPU is reset."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self.nvml = nvml
        self._handle = handle
        self.reset_required = False
        self._answered = self._unknown = 0

    def begin(self) -> None:
        """A look begins."""
        self.reset_required = False
        self._answered = self._unknown = 0

    def end(self) -> None:
        """A look is over; Gone when there were only unknown errors: so a GPU that fell off the bus answers, too."""
        if self._unknown and not self._answered:
            raise Gone("Unknown Error")

    def plain(self, name: str) -> Any:
        """A call about no handle; None where it cannot be told."""
        try:
            return getattr(self.nvml, name)()
        except self.nvml.NVMLError:
            return None

    def ask(self, name: str, *more: Any) -> Any:
        """A call about the handle; None where it cannot be told."""
        try:
            found = getattr(self.nvml, name)(self._handle, *more)
        except self.nvml.NVMLError as error:
            self._note(error)
            return None
        except UnicodeDecodeError:
            return None
        self._answered += 1
        return found

    def first(self, *names: str) -> Any:
        """The answer of the first of these that this driver knows."""
        for name in names:
            found = self.ask(name)
            if found is not None:
                return found
        return None

    def fields(self, wanted: Sequence[int | tuple[int, int]]) -> list[float | None]:
        """Field values by id, or by (id, scope)."""
        found = self.ask("nvmlDeviceGetFieldValues", list(wanted))
        if found is None:
            return [None] * len(wanted)
        # The call always succeeds: each field has an answer, or a reason why not, of its own.
        self._answered -= all(one.nvmlReturn != 0 for one in found)
        self._unknown += any(one.nvmlReturn == _UNKNOWN for one in found)
        if any(one.nvmlReturn == _LOST for one in found):
            raise Gone("GPU is lost")
        return [_number(one) for one in found]

    def sram_threshold_exceeded(self) -> float | None:
        """1 where SRAM errors are above the driver's threshold for replacing the board."""
        kind = getattr(self.nvml, "c_nvmlEccSramErrorStatus_v1_t", None)
        if kind is None:
            return None
        status = kind()
        if self.ask("nvmlDeviceGetSramEccErrorStatus", ctypes.byref(status)) is None:
            return None
        return float(status.bThresholdExceeded)

    def _note(self, error: Any) -> None:
        if error.value in (_LOST, _NOT_FOUND):
            raise Gone(str(error)) from None
        if error.value in _DRIVER_GONE:
            raise unavailable(error) from None
        self.reset_required = self.reset_required or error.value == _RESET_REQUIRED
        self._unknown += error.value == _UNKNOWN


def _number(field: Any) -> float | None:
    if field.nvmlReturn != 0 or not 0 <= field.valueType < len(_MEMBERS):
        return None
    return float(getattr(field.value, _MEMBERS[field.valueType]))

"""Every GPU that the agent ever saw, so that one which is gone is missed, although nothing speaks of it any more."""

from collections.abc import Callable, Iterator

from hedgerow_agent.devices.base import Device, Identity, Missing
from hedgerow_agent.gpu import Gpu
from hedgerow_agent.lister import Listed

MAX_GPUS = 64


class Gpus:
    """The GPUs of this node."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._gpus: list[Gpu] = []
        self.dropped: dict[str, int] = {}

    def __iter__(self) -> Iterator[Gpu]:
        return iter(sorted(self._gpus, key=lambda gpu: gpu.identity.index))

    def __len__(self) -> int:
        return len(self._gpus)

    def listed(self, found: Listed) -> None:
        """Take a new list: who is in it is there, who is not is lost."""
        left = list(self._gpus)
        for device in (one for one in found if not isinstance(one, Missing)):
            self._present(device, left)
        for missing in (one for one in found if isinstance(one, Missing)):
            self._missing(missing, left)
        for gpu in left:
            gpu.lost("it is not listed any more")

    def begin_anew(self, found: Listed) -> None:
        """The driver was loaded anew: who is not in its list has been taken away on purpose."""
        for gpu in self._gpus:
            gpu.begin_anew()
        self.listed(found)
        kept = {one.index for one in found if isinstance(one, Missing)}
        gone = [gpu for gpu in self._gpus if gpu.lost_words and gpu.identity.index not in kept]
        for gpu in gone:
            gpu.forget()
            self._gpus.remove(gpu)

    def renew(self) -> None:
        """Handles of before mean nothing any more: the next list brings new ones."""
        for gpu in self._gpus:
            gpu.renew()

    def look(self) -> None:
        """Begin a look at each."""
        for gpu in self._gpus:
            gpu.look()

    def collect(self, wait_seconds: float = 0.0) -> str:
        """Take what looks gave; words of a driver that is gone, empty while it is there."""
        until = self._clock() + wait_seconds
        words = ""
        for gpu in self._gpus:
            gpu.collect(max(0.0, until - self._clock()), self.dropped)
            words, gpu.driver_words = gpu.driver_words or words, ""
        self._compare()
        return words

    def indexes(self) -> dict[str, int]:
        """PCI address -> index."""
        return {gpu.identity.pci: gpu.identity.index for gpu in self._gpus if gpu.identity.pci}

    def broken(self) -> dict[str, str]:
        """check -> what went wrong in it, on whichever GPU."""
        return {name: f"GPU {gpu.identity.index}: {words}" for gpu in self for name, words in gpu.broken.items()}

    def _compare(self) -> None:
        """Tell each what the best of its kind has."""
        best: dict[tuple[str, str], float] = {}
        for gpu in self._gpus:
            for name, value in gpu.compared().items():
                key = (gpu.identity.name, name)
                best[key] = max(value, best.get(key, value))
        for gpu in self._gpus:
            gpu.compare({name: value for (kind, name), value in best.items() if kind == gpu.identity.name})

    def _present(self, device: Device, left: list[Gpu]) -> None:
        about = device.identity
        known = next((gpu for gpu in left if gpu.identity.uuid and gpu.identity.uuid == about.uuid), None)
        known = known or next((gpu for gpu in left if not _differs(gpu, about.uuid) and _at(gpu, about.pci)), None)
        if known is None and len(self._gpus) < MAX_GPUS:
            known = Gpu(about, self._clock)
            self._gpus.append(known)
        if known is not None:
            if known in left:
                left.remove(known)
            known.found(device)

    def _missing(self, missing: Missing, left: list[Gpu]) -> None:
        """Where it is known by address, that one; else the one of this index that nobody else claimed."""
        known = next((gpu for gpu in left if missing.pci and gpu.identity.pci == missing.pci), None)
        known = known or next((gpu for gpu in left if gpu.identity.index == missing.index), None)
        if known is None and len(self._gpus) < MAX_GPUS:
            known = Gpu(Identity(missing.index, pci=missing.pci), self._clock)
            self._gpus.append(known)
        if known is not None:
            if known in left:
                left.remove(known)
            known.lost(missing.words)


def _differs(gpu: Gpu, uuid: str) -> bool:
    return bool(gpu.identity.uuid and uuid and gpu.identity.uuid != uuid)


def _at(gpu: Gpu, pci: str) -> bool:
    return bool(pci) and gpu.identity.pci == pci

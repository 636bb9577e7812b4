"""Which GPUs there are, asked again and again: the driver may be missing, hang, or be loaded anew under our feet."""

from collections.abc import Callable, Sequence

from hedgerow.wire_agent import DriverReport
from hedgerow_agent.bounded import Bounded
from hedgerow_agent.devices.base import Device, Mismatch, Missing, Source, Unavailable, Versions

LIST_SECONDS = 5.0
RETRY_SECONDS = 15.0
SILENT_SECONDS = 20.0
Listed = Sequence[Device | Missing]


class Lister:
    """Opens the source and lists it, on a thread of its own. Times are CLOCK_BOOTTIME seconds.

    loaded: which load of the driver this is (a word that changes with each); empty where none is, or nobody knows.
    """

    def __init__(self, source: Source, clock: Callable[[], float], loaded: Callable[[], str]) -> None:
        self._source = source
        self._thread = Bounded("devices", clock)
        self._loaded = loaded
        self._due = 0.0
        self._versions: Versions | None = None
        self._load = ""  # of the last list
        self._opened_load = ""  # of the source as it is open now
        self._new_versions = Versions()
        self._close_wanted = False
        self.open = False
        self.trouble = "not asked yet"
        self.reloads = 0
        self.openings = 0  # handles of one opening mean nothing in the next
        self.outdated = False

    def tick(self, now: float, wait_seconds: float = 0.0) -> Listed | None:
        """The newest list, when there is a new one. Waits for it at most so long."""
        if self._close_wanted:
            self._close_wanted = not self._thread.start(self._close)
        elif now >= self._due and self._thread.start(self._list):
            self._due = now + LIST_SECONDS
        outcome = self._thread.take(wait_seconds)
        if outcome is None:
            silent = self._thread.busy_seconds()
            if silent > SILENT_SECONDS:
                self.trouble = f"{self._source.name} has not answered for {silent:.0f} s"
            return None
        if outcome.error is not None:
            self._failed(outcome.error, now)
            return None
        if outcome.value is None:
            return None
        versions, load, listed = outcome.value
        self._note(versions, load)
        self.trouble = ""
        found: Listed = listed
        return found

    def lost_driver(self, words: str) -> None:
        """A call about a GPU said that the driver is gone: begin anew at the next look."""
        if self.open:
            self.trouble, self._due, self._close_wanted = words, 0.0, True

    def release(self, now: float, seconds: float) -> None:
        """Let go of the driver for so long, so that it can be unloaded or a GPU be reset."""
        self.trouble, self._due = f"let go of the driver for {seconds:.0f} s, as asked", now + seconds
        self._close_wanted = True

    def report(self, expected: int | None) -> DriverReport:
        """As reports say it."""
        versions = self._versions or Versions()
        return DriverReport(self._source.name, versions.driver, versions.library, self.trouble, expected, self.reloads)

    def _list(self) -> tuple[Versions, str, Listed]:
        load = self._loaded()
        if self.open and load != self._opened_load:
            self._close()
        if not self.open:
            self._new_versions = self._source.open()
            self.open, self._opened_load = True, load
            self.openings += 1
        try:
            return self._new_versions, load, self._source.devices()
        except Unavailable:
            self._close()
            raise

    def _close(self) -> None:
        self.open = False
        self._source.close()

    def _note(self, versions: Versions, load: str) -> None:
        """Beginning anew with the same driver is no reload: what the kernel said of GPUs still holds."""
        if self._versions is not None and (versions != self._versions or load != self._load):
            self.reloads += 1
        self._versions, self._load = versions, load

    def _failed(self, error: Exception, now: float) -> None:
        first = not self.trouble
        self.trouble = str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
        # The library of this process was loaded before the driver that is there now: only a new process gets another.
        self.outdated = isinstance(error, Mismatch) and self._versions is not None
        self._due = now if first and self._versions is not None else now + RETRY_SECONDS

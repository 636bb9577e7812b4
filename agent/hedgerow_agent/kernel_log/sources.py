"""Where the kernel's log is read: /dev/kmsg, the journal, a file, or what fake devices play. None of them waits."""

import errno
import os
import subprocess
import time
from collections.abc import Callable
from typing import Protocol

from hedgerow_agent.kernel_log.line import MAX_LINE, Record, record

KMSG = "/dev/kmsg"
# A burst is read over several looks, so that none takes long.
MAX_RECORDS = 2000
_RETRY_SECONDS = 30.0
_CHUNK = 65536


class Source(Protocol):
    """A log that grows."""

    @property
    def words(self) -> str:
        """Where it is read from, or why it is not: for people."""

    def records(self) -> list[Record]:
        """What came since this was last asked."""

    def close(self) -> None:
        """Let go of it."""


class Nothing:
    """No log is read."""

    words = "not read, by --kernel-log none"

    def records(self) -> list[Record]:
        """Nothing."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""


class Played:
    """Lines that something plays."""

    words = "played by the fake devices"

    def __init__(self, lines: Callable[[], list[str]]) -> None:
        self._lines = lines

    def records(self) -> list[Record]:
        """The lines since; they are of now, whatever time they were recorded at."""
        return [record(line)._replace(seconds=None) for line in self._lines()]

    def close(self) -> None:
        """Nothing to let go of."""


class Reopened:
    """A log behind a descriptor that may be missing, and is tried again every half minute."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.place = place
        self.words = f"from {place}"
        self._clock = clock
        self._descriptor: int | None = None
        self._retry = 0.0

    def records(self) -> list[Record]:
        """What came since."""
        if self._descriptor is None and not self._reopen():
            return []
        try:
            assert self._descriptor is not None
            return self.read(self._descriptor)
        except OSError as error:
            self._lost(error)
            return []

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def open(self) -> int:
        """A descriptor that does not block."""
        return os.open(self.place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def read(self, descriptor: int) -> list[Record]:
        """Records that can be read without waiting."""
        raise NotImplementedError

    def _reopen(self) -> bool:
        if self._clock() < self._retry:
            return False
        try:
            self._descriptor = self.open()
        except OSError as error:
            self._lost(error)
            return False
        self.words = f"from {self.place}"
        return True

    def _lost(self, error: OSError) -> None:
        self.close()
        self._retry = self._clock() + _RETRY_SECONDS
        self.words = f"{self.place} cannot be read: {error.strerror or error}"


class Kmsg(Reopened):
    """/dev/kmsg: a record a read, from the oldest that the kernel still has."""

    def __init__(self, place: str = KMSG, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(place, clock)
        self.overwritten = 0

    def read(self, descriptor: int) -> list[Record]:
        """Records since; EPIPE says that the kernel overwrote some before they were read."""
        found: list[Record] = []
        while len(found) < MAX_RECORDS:
            try:
                data = os.read(descriptor, 2 * MAX_LINE)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.EPIPE:
                    raise
                self.overwritten += 1
                continue
            if not data:
                break
            found.append(record(data.decode("utf-8", "replace")))
        return found


class Lines(Reopened):
    """Whole lines out of a descriptor that gives bytes."""

    def __init__(self, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(place, clock)
        self._rest = b""

    def read(self, descriptor: int) -> list[Record]:
        """Records of the lines that are complete."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return []
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MAX_LINE]
        return [record(line[:MAX_LINE].decode("utf-8", "replace")) for line in lines]


class LogFile(Lines):
    """A file that syslog writes, followed through rotation: from now on, unless its start is asked for."""

    def __init__(self, place: str, from_start: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(place, clock)
        self._from_start = from_start

    def open(self) -> int:
        """The file, at its end the first time, and at its start when it is a new one."""
        descriptor = super().open()
        if not self._from_start:
            os.lseek(descriptor, 0, os.SEEK_END)
            self._from_start = True
        self._rest = b""
        return descriptor

    def read(self, descriptor: int) -> list[Record]:
        """Lines since; a file that was renamed is read to its end before the new one is opened."""
        here = os.fstat(descriptor)
        if os.lseek(descriptor, 0, os.SEEK_CUR) > here.st_size:
            os.lseek(descriptor, 0, os.SEEK_SET)  # it was emptied in place
        found = super().read(descriptor)
        if not found and self._replaced(here):
            self.close()
        return found

    def _replaced(self, here: os.stat_result) -> bool:
        try:
            there = os.stat(self.place)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)


class Journal(Lines):
    """The kernel's messages out of systemd's journal, of this boot."""

    COMMAND = (
        "journalctl",
        "--dmesg",
        "--boot",
        "--follow",
        "--lines=all",
        "--output=short-monotonic",
        "--no-hostname",
    )

    def __init__(self, clock: Callable[[], float] = time.monotonic, command: tuple[str, ...] = COMMAND) -> None:
        super().__init__("the journal", clock)
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> int:
        """The end of a pipe from journalctl."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        descriptor = os.dup(self._process.stdout.fileno())
        self._process.stdout.close()
        os.set_blocking(descriptor, False)
        return descriptor

    def read(self, descriptor: int) -> list[Record]:
        """Lines since; journalctl may end (journald restarts), and is begun again."""
        found = super().read(descriptor)
        if not found and self._process is not None and self._process.poll() is not None:
            raise OSError(errno.EPIPE, f"journalctl ended with code {self._process.returncode}")
        return found

    def close(self) -> None:
        """End journalctl."""
        super().close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def source(wanted: str, played: Callable[[], list[str]] | None, from_start: bool = False) -> Source:
    """The log that an option names: kmsg, journal, file:PATH or none; played: what fake devices say instead."""
    if wanted == "none":
        return Nothing()
    if wanted.startswith("file:"):
        return LogFile(wanted.removeprefix("file:"), from_start)
    if wanted == "journal":
        return Journal()
    if wanted == "kmsg":
        return Kmsg()
    if wanted == "auto":
        return Kmsg() if played is None else Played(played)
    raise ValueError(f"--kernel-log is {wanted!r}; expected auto, kmsg, journal, file:PATH or none")

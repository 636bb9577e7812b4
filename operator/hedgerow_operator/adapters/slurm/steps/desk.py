"""Where the sruns of a supervised script ask what to start: a unix socket, one JSON object a line each way.

The other end is ``hedgerow.slurm.step_runner``, on the same machine.
"""

import asyncio
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_LONGEST_LINE = 4 << 20


class Call:
    """One call of srun: by the script, until it has its exit code.

    pid: of the srun that runs; None: none does. code: exit code of the last that has ended. by_user: the script, or
    whoever it obeys, ended it. watched: a launcher was put before the program.
    """

    def __init__(self, program: Sequence[str], arguments: Sequence[str], writer: asyncio.StreamWriter) -> None:
        self.program, self.arguments = tuple(program), tuple(arguments)
        self.name = self.uid = ""
        self.placement = 0
        self.pid: int | None = None
        self.starting = False
        self.code: int | None = None
        self.by_user = False
        self.watched = True
        self.gone = False
        self._writer = writer

    @property
    def runs(self) -> bool:
        """Whether an srun runs, or is about to."""
        return self.starting or self.pid is not None

    def start(self, placement: int, variables: Mapping[str, str], options: Sequence[str]) -> None:
        """Start srun, with these variables and these words before its own options."""
        self.placement, self.starting, self.code = placement, True, None
        self._say({"start": {"variables": dict(variables), "options": list(options)}})

    def start_unwatched(self) -> None:
        """Start srun as the script has it."""
        self.starting, self.code = True, None
        self._say({"start": {"variables": {}, "options": [], "watched": False}})

    def send(self, number: signal.Signals) -> None:
        """Signal the srun that runs."""
        self._say({"signal": int(number)})

    def leave(self, code: int) -> None:
        """Let the script go on."""
        self.gone = True
        self._say({"exit": code})

    def note(self, message: Mapping[str, Any]) -> None:
        """What the other end says of its srun."""
        if "started" in message:
            self.pid, self.starting = int(message["started"]["pid"]), False
            self.watched = bool(message["started"]["watched"])
        if "ended" in message:
            self.pid, self.starting = None, False
            self.code = int(message["ended"]["code"])
            self.by_user = bool(message["ended"]["by_user"])

    def _say(self, message: Mapping[str, Any]) -> None:
        if not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")


class Desk:
    """on_call: somebody calls srun. on_change: its srun has started or ended, or it is gone."""

    def __init__(self, path: Path, on_call: Callable[[Call], None], on_change: Callable[[Call], None]) -> None:
        self.path = path
        self._on_call = on_call
        self._on_change = on_change
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        """Begin to listen. The folder must be ours alone."""
        self._server = await asyncio.start_unix_server(self._serve, path=self.path, limit=_LONGEST_LINE)

    def close(self) -> None:
        """Listen no more; what runs runs on."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call: Call | None = None
        self._writers.add(writer)
        try:
            while line := await reader.readline():
                message = json.loads(line)
                if call is not None:
                    call.note(message)
                    self._on_change(call)
                elif "hello" in message:
                    call = Call(message["hello"]["program"], message["hello"]["arguments"], writer)
                    self._on_call(call)
        except (OSError, ValueError, asyncio.CancelledError):
            pass  # whoever speaks so is none of ours, or gone; or we are
        finally:
            self._writers.discard(writer)
            writer.close()
            if call is not None:
                call.gone, call.pid, call.starting = True, None, False
                self._on_change(call)

"""The operator's end of the process that speaks pyslurm: started when needed, ended when it hangs, started again."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from hedgerow_operator.adapters.slurm.pyslurm.worker import REFUSED, Call, Reply
from hedgerow_operator.reconcile.ports import Refused, Unreachable

# With the controller away a call takes 9 s, and one may make two.
_CALL_SECONDS = 45.0
_MOST_BYTES = 256 * 1024 * 1024


class PySlurmProcess:
    """One call at a time, as pyslurm itself could do no more."""

    def __init__(self, environment: Mapping[str, str] | None = None, seconds: float = _CALL_SECONDS) -> None:
        """environment: beside this process's. seconds: longest time for one call."""
        self._environment = {**os.environ, **(environment or {})}
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def call(self, method: str, *arguments: Any) -> Any:
        """The result. Raises Refused, Unreachable."""
        async with self._lock:
            try:
                reply = await asyncio.wait_for(self._exchange(Call(method, list(arguments))), self._seconds)
            except TimeoutError:
                await self.close()
                raise Unreachable(f"pyslurm did not answer within {self._seconds:g} s") from None
            except BaseException:
                # An answer that nobody waits for any more would be taken for the next one's.
                await self.close()
                raise
        if reply.error:
            raise (Refused if reply.kind == REFUSED else Unreachable)(reply.error)
        return reply.result

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _exchange(self, call: Call) -> Reply:
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(call) + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (OSError, ValueError) as error:
            raise Unreachable(f"pyslurm's process cannot be talked to ({error})") from None
        if not line.endswith(b"\n"):
            code = await process.wait()
            how = signal.Signals(-code).name if code < 0 else f"code {code}"
            raise Unreachable(f"pyslurm's process ended by itself ({how})")
        return msgspec.json.decode(line, type=Reply)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hedgerow_operator.adapters.slurm.pyslurm.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=self._environment,
            limit=_MOST_BYTES,
        )

"""A few checking processes, started when first needed, ended when one takes too long, and begun anew."""

import asyncio
import contextlib
import os
import sys

import msgspec

from hedgerow_operator.gateway.validators.asked import HEAD_BYTES, MOST_BYTES, Finding, Question

# Whatever an answer holds, it is told within this time whether it counts.
LONGEST_SECONDS = 10.0
_MOST_WORKERS = 2
_TROUBLE = (BrokenPipeError, ConnectionError, asyncio.IncompleteReadError)


class _Worker:
    """One process and its pipes. busy: somebody waits for its finding."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, question: bytes) -> Finding:
        """Raises _TROUBLE when it has ended."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(len(question).to_bytes(HEAD_BYTES, "big") + question)
        await into.drain()
        size = int.from_bytes(await out.readexactly(HEAD_BYTES), "big")
        return msgspec.msgpack.decode(await out.readexactly(size), type=Finding)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class Workers:
    """seconds: how long one check may take."""

    def __init__(self, seconds: float = LONGEST_SECONDS, most: int = _MOST_WORKERS) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(most)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def find(self, question: Question) -> Finding:
        """Waits for a process that is free. Never raises."""
        try:
            body = msgspec.msgpack.encode(question)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return Finding(fault="the answer cannot be checked: its output is no plain JSON")
        if len(body) > MOST_BYTES:
            return Finding(fault="the answer is too large to be checked")
        async with self._places:
            return await self._found(body)

    async def close(self) -> None:
        """End them all."""
        for worker in list(self._all):
            await self._end(worker)

    async def _found(self, body: bytes) -> Finding:
        try:
            worker = await self._take()
        except OSError as error:
            return Finding(fault=f"the answer cannot be checked: no process can be started ({error.strerror})")
        try:
            async with asyncio.timeout(self._seconds):
                finding = await worker.ask(body)
        except TimeoutError:
            await self._end(worker)
            return Finding(fault=f"it could not be told within {self._seconds:g} s whether the answer is valid")
        except _TROUBLE:
            await self._end(worker)
            return Finding(fault="the process that checked the answer broke down over it")
        except BaseException:
            await self._end(worker)
            raise
        self._idle.append(worker)
        return finding

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._all.discard(worker)
        # A Ctrl-C is for the gateway, which ends its processes itself.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hedgerow_operator.gateway.validators.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
            limit=MOST_BYTES,
        )
        worker = _Worker(process)
        self._all.add(worker)
        return worker

    async def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        await worker.end()


def _environment() -> dict[str, str]:
    """Only what Python needs: no secret of the gateway's reaches a decoder."""
    kept = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "HOME", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ}

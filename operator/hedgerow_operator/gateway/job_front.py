"""The Job protocol, in RunPod's shape: its clients work by changing the URL."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from msgspec.structs import replace

from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.incoming import Incoming, read
from hedgerow_operator.gateway.jobs import FINAL, Job, Jobs, JobState, Wanted
from hedgerow_operator.gateway.reply import RefusedError, Reply, json_reply
from hedgerow_operator.gateway.shaping import json_object
from hedgerow_operator.gateway.webhooks import webhook_of

# RunPod's bounds of runsync's wait, and what it is without one.
_LEAST_WAIT, _MOST_WAIT, _USUAL_WAIT = 1.0, 300.0, 90.0
_HEALTH_SECONDS = 5.0
_PLAIN = {"Content-Type": "application/json"}


class JobFront:
    """Of one endpoint."""

    def __init__(self, endpoint: Endpoint, jobs: Jobs) -> None:
        self._endpoint, self._jobs = endpoint, jobs
        self._about: Mapping[tuple[str, str], Callable[[Job], Awaitable[Reply]]] = {
            ("GET", "status"): self._status,
            ("POST", "status"): self._status,
            ("GET", "stream"): self._stream,
            ("POST", "stream"): self._stream,
            ("POST", "cancel"): self._cancel,
            ("POST", "retry"): self._retry,
        }

    async def answer(self, request: web.BaseRequest, path: str, client: str) -> Reply:
        """Raises RefusedError and LostError."""
        route, _, query = path.partition("?")
        verb, _, job_id = route.strip("/").partition("/")
        about = self._about.get((request.method, verb))
        if about is not None and job_id:
            return await about(self._jobs.find(job_id))
        if request.method == "POST" and not job_id and verb in ("run", "runsync"):
            return await self._run(request, verb, query, client)
        if request.method == "POST" and verb == "purge-queue":
            return await self._purge()
        if request.method == "GET" and verb == "health":
            return await self._health()
        raise RefusedError(
            404, "there is run, runsync, status/ID, stream/ID, cancel/ID, retry/ID, purge-queue and health"
        )

    def end(self) -> None:
        """Cancel every job."""
        for job in self._jobs:
            self._jobs.cancel(job)

    async def _run(self, request: web.BaseRequest, verb: str, query: str, client: str) -> Reply:
        wait = _wait_of(query) if verb == "runsync" else 0.0
        incoming = await read(request, self._endpoint.settings, client, f"{verb}?{query}" if query else verb)
        if incoming.upload is not None:
            raise RefusedError(413, f"the body is larger than {self._endpoint.settings.max_body_bytes} bytes")
        if not incoming.key:
            return await self._begun(incoming, wait)
        once = self._endpoint.once
        kept = await once.begin(incoming, wait=True)
        if kept is not None:
            return kept
        reply: Reply | None = None
        try:
            reply = await self._begun(incoming, wait)
        finally:
            if reply is None:
                once.forget(incoming.key)
            else:
                once.keep(incoming.key, reply)
        return reply

    async def _begun(self, incoming: Incoming, wait: float) -> Reply:
        job = self._jobs.begin(_wanted(incoming, self._endpoint.settings.deadline_seconds))
        try:
            await self._jobs.written(job)
            if not wait:
                return json_reply(200, {"id": job.id, "status": str(job.state)})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await job.done.wait()
        except asyncio.CancelledError:
            self._jobs.cancel(job)  # its client has gone without a name to ask by
            raise
        return Reply(status=200, headers={**_own(job.headers), **_PLAIN}, body=msgspec.json.encode(job.shown()))

    async def _status(self, job: Job) -> Reply:
        return Reply(status=200, headers={**_own(job.headers), **_PLAIN}, body=msgspec.json.encode(job.shown()))

    async def _stream(self, job: Job) -> Reply:
        """Its output once, in one piece: a job that may still be won by another provider has nothing to show before."""
        parts: list[dict[str, Any]] = []
        if job.final is JobState.COMPLETED and not job.streamed:
            job.streamed = True
            parts.append({"output": job.output})
        return json_reply(200, {"status": str(job.state), "stream": parts})

    async def _cancel(self, job: Job) -> Reply:
        self._jobs.cancel(job)
        return json_reply(200, {"id": job.id, "status": str(job.state)})

    async def _retry(self, job: Job) -> Reply:
        self._jobs.retry(job)
        await self._jobs.written(job)
        return json_reply(200, {"id": job.id, "status": str(job.state)})

    async def _purge(self) -> Reply:
        queued = [job for job in self._jobs if job.state is JobState.IN_QUEUE]
        for job in queued:
            self._jobs.cancel(job)
        return json_reply(200, {"removed": len(queued), "status": "completed"})

    async def _health(self) -> Reply:
        states = [job.state for job in self._jobs]
        jobs = {
            "completed": states.count(JobState.COMPLETED),
            "failed": sum(state in FINAL for state in states) - states.count(JobState.COMPLETED),
            "inProgress": states.count(JobState.IN_PROGRESS),
            "inQueue": states.count(JobState.IN_QUEUE),
            "retried": self._jobs.retried,
        }
        warm = await self._warm()
        running = jobs["inProgress"]
        return json_reply(200, {"jobs": jobs, "workers": {"idle": max(0, warm - running), "running": running}})

    async def _warm(self) -> int:
        """Workers that the providers say are warm."""
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                found = await asyncio.gather(*(one.health() for one in self._endpoint.providers.values()))
        except TimeoutError:
            return 0
        return sum(health.warm or 0 for health in found)


def _own(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.startswith("X-Hedgerow-")}


def _wait_of(query: str) -> float:
    """Of runsync?wait=MILLISECONDS. Raises RefusedError."""
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name == "wait":
            if not value.isascii() or not value.isdigit():
                raise RefusedError(400, "wait has to be a number of milliseconds from 1000 to 300000")
            return min(_MOST_WAIT, max(_LEAST_WAIT, int(value[:9]) / 1000))
    return _USUAL_WAIT


def _wanted(incoming: Incoming, most: float) -> Wanted:
    """Raises RefusedError."""
    found = json_object(incoming.body)
    if "input" not in found:
        raise RefusedError(400, 'the body needs an input, as {"input": {"prompt": "…"}}')
    if found.get("s3Config"):
        raise RefusedError(
            400, "s3Config is not kept here: give the provider's workers their storage by their own settings"
        )
    now = asyncio.get_running_loop().time()
    return Wanted(
        incoming=replace(incoming, body=msgspec.json.encode(found["input"]), path="", method="POST"),
        seconds=_policy_seconds(found.get("policy"), min(most, incoming.deadline - now)),
        webhook=webhook_of(found.get("webhook")),
    )


def _policy_seconds(policy: object, most: float) -> float:
    """The sooner of policy.ttl and policy.executionTimeout, in seconds. Raises RefusedError."""
    given = policy if isinstance(policy, dict) else {}
    for name in ("executionTimeout", "ttl"):
        value = given.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise RefusedError(400, f"policy.{name} has to be a number of milliseconds above 0")
        most = min(most, value / 1000)
    return most

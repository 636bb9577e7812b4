"""All endpoints that are served here, and whether new requests are taken."""

import asyncio
import contextlib
from collections.abc import Sequence

from hedgerow_operator.gateway.counts import EndpointStatistics
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.job_front import JobFront
from hedgerow_operator.gateway.jobs import Jobs
from hedgerow_operator.gateway.peers import Peers, Replica
from hedgerow_operator.gateway.ports import Parts
from hedgerow_operator.gateway.settings import EndpointSettings, Speaks
from hedgerow_operator.gateway.webhooks import Webhooks

_SUBMIT_SECONDS = 10.0


class Served:
    """One endpoint, and what answers its jobs; None where it has none."""

    def __init__(self, endpoint: Endpoint, jobs: JobFront | None) -> None:
        self.endpoint, self.jobs = endpoint, jobs


class Gateway:
    """Made and used on its loop. allowed_networks: CIDRs that webhooks may reach though they are not public."""

    def __init__(self, own: Replica | None = None, allowed_networks: Sequence[str] = ()) -> None:
        self.peers = Peers(own or Replica())
        self.draining = False
        self.ready = True
        self._served: dict[tuple[str, str], Served] = {}
        self._webhooks = Webhooks(allowed_networks)

    def serve(self, settings: EndpointSettings, parts: Parts) -> Endpoint:
        """From now on, or in another way than before; what was learned stays."""
        place = (settings.namespace, settings.name)
        served = self._served.get(place)
        if served is not None and served.endpoint.settings.speaks is settings.speaks:
            served.endpoint.renew(settings, parts)
            return served.endpoint
        endpoint, jobs = Endpoint(settings, parts), None
        if settings.speaks is Speaks.JOB:
            jobs = JobFront(endpoint, Jobs(endpoint, self.peers.own.owner(), self._webhooks.ended))
        self._served[place] = Served(endpoint, jobs)
        return endpoint

    def withdraw(self, namespace: str, name: str) -> None:
        """Serve it no longer; requests that run go on."""
        self._served.pop((namespace, name), None)

    def find(self, namespace: str, name: str) -> Served | None:
        """None: it is not served here."""
        return self._served.get((namespace, name))

    def statistics(self) -> tuple[EndpointStatistics, ...]:
        """Of all endpoints, up to now."""
        return tuple(served.endpoint.statistics() for served in self._served.values())

    @property
    def running(self) -> int:
        """Requests and jobs right now."""
        return sum(served.endpoint.counts.running for served in self._served.values())

    async def drain(self, grace_seconds: float) -> None:
        """Take no more requests, let those that run finish, and after ``grace_seconds`` cancel the jobs."""
        self.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                while self.running:  # noqa: ASYNC110 - at the very end, and nothing else is to be told of it
                    await asyncio.sleep(0.05)
        for served in self._served.values():
            if served.jobs is not None:
                served.jobs.end()

    async def close(self) -> None:
        """Let go of everything that is its own, once no request is left. What is just being submitted is waited for: it
        can be ended only by its name.
        """
        work = [task for served in self._served.values() for task in served.endpoint.work]
        if work:
            await asyncio.wait(work, timeout=_SUBMIT_SECONDS)
        await self._webhooks.close(grace_seconds=5.0)
        await self.peers.close()

"""The gateway of a local run: on loopback, in a thread with a loop of its own, so that data never waits for control."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Mapping

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.launch import LOOPBACK
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.cli.serving.standings import Place, Standings
from hedgerow_operator.cli.serving.summary import summary
from hedgerow_operator.cli.serving.wanted import Wanted
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth
from hedgerow_operator.gateway.health_rounds import HealthRounds
from hedgerow_operator.gateway.journal_file import JournalInUseError
from hedgerow_operator.gateway.main import new_loop
from hedgerow_operator.gateway.secret_files import LocalSecrets
from hedgerow_operator.gateway.service import Options, Service
from hedgerow_operator.server.listening import listen

# What runs here may be asked, and nothing else that is not public.
_OWN_MACHINE = ("127.0.0.0/8", "::1/128")
_LOOK_SECONDS = 1.0
_GRACE_SECONDS = 5.0


class GatewayThread:
    """tell: sentences for people; called in the thread."""

    def __init__(self, wanted: Wanted, paths: StatePaths, tell: Callable[[str], None]) -> None:
        self._wanted, self._paths, self._tell = wanted, paths, tell
        self._standings = Standings(paths, wanted.endpoints, wanted.providers)
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._fault: Exception | None = None
        self._told: set[str] = set()
        self._held: dict[Place, float] = {}

    def start(self) -> None:
        """Return once it serves. Raises StateError."""
        self._thread.start()
        self._begun.wait()
        if self._fault is not None:
            raise StateError(str(self._fault)) from None

    def stop(self) -> None:
        """Let requests that run finish for a moment, end their losers, and tell what was done."""
        if self._loop is not None and self._end is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # it ends by itself just now
                self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        for endpoint in self._standings.endpoints:
            self._tell(summary(endpoint, self._held.get((endpoint.metadata.namespace, endpoint.metadata.name), 0.0)))

    @property
    def endpoints(self) -> tuple[InferenceEndpoint, ...]:
        """As they stand."""
        return self._standings.endpoints

    def _run(self) -> None:
        loop = new_loop()
        try:
            loop.run_until_complete(self._serve())
        except (OSError, StateError, JournalInUseError, sqlite3.Error) as error:
            self._fault = error
        except Exception as error:  # noqa: BLE001  (a thread that dies silently would look like one that serves)
            self._fault = error
            self._tell(f"internal error, endpoints are served no longer: {type(error).__name__}: {error}")
        finally:
            self._begun.set()
            loop.close()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        secrets = LocalSecrets(self._wanted.options.secrets)
        service = Service(Options(journal=self._paths.journal, secrets=secrets, allowed_networks=_OWN_MACHINE))
        try:
            socket = listen(LOOPBACK, self._wanted.options.port)
        except OSError as error:
            port = self._wanted.options.port
            raise StateError(f"port {port} cannot be had: {error.strerror}; give another --gateway-port") from None
        odd = service.open()
        if odd:
            self._tell(odd)
        await service.apply(self._standings.endpoints, self._wanted.providers)
        await service.start([socket])
        address = f"http://{LOOPBACK}:{socket.getsockname()[1]}"
        write_whole(self._paths.gateway_address, f"{address}\n".encode())
        self._write(service, address)
        self._begun.set()
        health = asyncio.ensure_future(HealthRounds(service.desk, self._wanted.providers, self._heard).run())
        try:
            await self._until_ended(service, address)
        finally:
            health.cancel()
            self._paths.gateway_address.unlink(missing_ok=True)
            await service.stop(_GRACE_SECONDS)
            self._write(service, address)  # what was held for attempts that have ended now is known

    async def _until_ended(self, service: Service, address: str) -> None:
        assert self._end is not None
        while not self._end.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), _LOOK_SECONDS)
            self._write(service, address)

    def _write(self, service: Service, address: str) -> None:
        shown = service.shown()
        self._held = {place: one.held_usd or 0.0 for place, one in shown.items()}
        try:
            self._standings.write(shown, address)
        except OSError as error:
            self._say_once(f"how the endpoints stand cannot be written: {error.strerror}")
        for place, standing in service.desk.standings.items():
            name = "/".join(place)
            for provider, why in standing.left_out.items():
                self._say_once(f"{name}: {provider} is left out: {why}")
            served = f"{name} is served at {address}/{name}"
            self._say_once(served if standing.served else f"{name} is not served: {standing.sentence}")

    def _heard(self, health: Mapping[Place, ProviderHealth]) -> None:
        with contextlib.suppress(OSError):  # the next look tells of it
            self._standings.heard(health)

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

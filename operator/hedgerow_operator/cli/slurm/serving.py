"""The report server of a batch job: at the address by which Slurm itself reaches this node."""

import asyncio
import contextlib
import ipaddress
import socket
from pathlib import Path

from aiohttp import web

from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.server.app import make_runner


async def serve(app: web.Application, node: str, driver: Driver, paths: StatePaths) -> web.AppRunner:
    """Begin to listen, and write the URL where launchers look for it. Raises OSError."""
    address = await address_of(node, driver)
    runner = make_runner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, address, 0).start()
    except OSError:
        # Translated on the way, as in clouds: reached by an address that this machine does not have itself.
        await web.TCPSite(runner, None, 0).start()
    port = runner.addresses[0][1]
    host = f"[{address}]" if ":" in address else address
    write_whole(paths.address, f"http://{host}:{port}\n".encode())
    return runner


class KeptFiles:
    """What launchers read at each try, as it is now: written again where somebody has deleted it."""

    def __init__(self, *paths: Path) -> None:
        """Raises OSError."""
        self._files = {path: path.read_bytes() for path in paths}

    async def keep(self, seconds: float = 5.0) -> None:
        """Look so often, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            self.look()

    def look(self) -> None:
        """Where that fails it is tried again the next time; ranks train on meanwhile."""
        for path, data in self._files.items():
            with contextlib.suppress(OSError):
                if not path.exists():
                    write_whole(path, data, mode=0o600)


async def address_of(node: str, driver: Driver) -> str:
    """Of this node: what Slurm has for it, so that nothing else need be resolvable on the others."""
    name = node
    with contextlib.suppress(Unreachable):
        found = next((entry for entry in await driver.nodes() if entry.name == node), None)
        name = found.address if found and found.address else node
    return resolved(name) or resolved(socket.gethostname()) or "127.0.0.1"


def resolved(name: str) -> str:
    """The address of a name, "" where there is none."""
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0]) if name else ""
    except OSError:
        return ""

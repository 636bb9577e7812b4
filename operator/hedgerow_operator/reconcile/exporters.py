"""Where dcgm-exporters run whose word is taken for that of our agent."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

SELECTOR = "app.kubernetes.io/name=dcgm-exporter"
PORT = 9400
SCRAPE_SECONDS = 4.0


class ExporterRules(Struct, frozen=True, kw_only=True):
    """namespace: whose pods are believed: whoever may run a pod there can say what he likes of a node's GPUs.
    selector: labels of the exporters' pods. scrape_seconds: how often each is asked."""

    namespace: str
    selector: str = SELECTOR
    port: int = PORT
    scrape_seconds: float = SCRAPE_SECONDS


class Exporter(Struct, frozen=True, kw_only=True):
    """One exporter. process: another word when it began anew."""

    node: str
    url: str
    process: str


class Exporters(Protocol):
    """Finds them."""

    async def running(self) -> Mapping[str, Exporter]:
        """Those that run, by node. Raises Unreachable."""

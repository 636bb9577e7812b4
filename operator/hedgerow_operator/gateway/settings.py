"""How one endpoint is served: made from its manifest, and all that the data path knows of it."""

import hashlib
import hmac
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.decision import Policy


class Speaks(StrEnum):
    """What clients of the endpoint speak, as spec.protocol."""

    JOB = "Job"
    OPENAI = "OpenAI"
    HTTP = "HTTP"


class ProviderUse(Struct, frozen=True, kw_only=True):
    """How one provider is asked. model: replaces the request's; path: replaces what comes below the endpoint.
    request, response: JMESPath that makes its request of ours, and our answer of its. Empty: as it is.
    weight: providers of equal preference share the first attempts by it; None: the order alone counts.
    """

    name: str
    model: str = ""
    path: str = ""
    request: str = ""
    response: str = ""
    weight: int | None = None


class Affinity(Struct, frozen=True, kw_only=True):
    """Requests with the same value of ``header`` prefer the provider that answered the last of them."""

    header: str
    ttl_seconds: float = 600.0


class ApiKeys:
    """Who may ask, by key; made of a Secret, each key of which is one client. Never shows itself."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._digests = [(client, hashlib.sha256(key.strip()).digest()) for client, key in keys.items() if key.strip()]

    def client(self, key: bytes) -> str | None:
        """Whose key it is; None: nobody's. Takes as long whichever it is."""
        digest, found = hashlib.sha256(key).digest(), None
        for client, known in self._digests:
            if hmac.compare_digest(digest, known):
                found = client
        return found

    def __repr__(self) -> str:
        return f"ApiKeys({len(self._digests)} clients)"


class EndpointSettings(Struct, frozen=True, kw_only=True):
    """providers: in order of preference, as Parts.providers. max_extra_load: attempts beyond the first, as a share of
    the requests. deadline_seconds: of a request that brings none. keys: None: everybody may ask.
    result_seconds: how long the result of a job can be asked for. objective: share of the answers whose time is told
    in the statistics; None: none is.
    """

    namespace: str
    name: str
    speaks: Speaks
    providers: tuple[ProviderUse, ...]
    policy: Policy = Adaptive()
    max_live: int = 2
    max_extra_load: float = 0.2
    deadline_seconds: float = 600.0
    affinity: Affinity | None = None
    max_body_bytes: int = 20 * 1024 * 1024
    max_requests: int = 1000
    keys: ApiKeys | None = None
    result_seconds: float = 1800.0
    objective: float | None = None

    @property
    def path(self) -> str:
        """What it is reached below."""
        return f"/{self.namespace}/{self.name}"

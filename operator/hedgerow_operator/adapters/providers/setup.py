"""What every provider is built from, whatever its type."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

from msgspec import Struct, field

from hedgerow_operator.adapters.providers.limiter import Limiter, Limiters


class Secrets(Mapping[str, str]):
    """The keys of one Secret. Never shows its values, so that neither a log nor a traceback can."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = {name: value.strip() for name, value in (values or {}).items()}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def digest(self) -> str:
        """Another one for other keys; nothing can be read from it."""
        return sha256(repr(sorted(self._values.items())).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._values))})"


class Limits(Struct, frozen=True, kw_only=True):
    """Of new attempts, where an account has others than those documented. None: the documented ones."""

    per_ten_seconds: int | None = None
    concurrent: int | None = None


class Setup(Struct, frozen=True, kw_only=True):
    """name: as the endpoint calls it. allowed_networks: CIDRs that may be called although they are this machine or its
    neighbours. scale: factor on every wait of ours (tests run in small times). stops_on_disconnect: a server whose work
    is known to end with the connection (vLLM, SGLang). call_seconds: the longest that one call of an API may take,
    answer included; scale has no part in it, since a machine is not quicker for it. limiters: those of the gateway.
    """

    name: str
    secrets: Secrets = Secrets()
    usd_per_second: float = 0.0
    idle_billed_seconds: float = 0.0
    limits: Limits = Limits()
    allowed_networks: tuple[str, ...] = ()
    scale: float = 1.0
    call_seconds: float = 30.0
    stops_on_disconnect: bool = False
    limiters: Limiters = field(default_factory=Limiters)

    def limiter(
        self, place: str, call: str, count: int | None = None, seconds: float = 10.0, concurrent: int | None = None
    ) -> Limiter:
        """Of one kind of call to ``place``, shared by all that make it with the same Secret."""
        return self.limiters.of((place, call, self.secrets.digest), count, seconds, concurrent, self.scale)

    def attempts(self, place: str) -> Limiter:
        """Of new attempts, as ``limits`` says."""
        return self.limiter(place, "attempt", self.limits.per_ten_seconds, concurrent=self.limits.concurrent)

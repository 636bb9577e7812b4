"""One request as its policy sees it. Times are seconds since the request began, unless said otherwise."""

from enum import StrEnum

from msgspec import Struct


class AttemptState(StrEnum):
    """QUEUED, RUNNING: as its provider shows it; UNKNOWN: it shows nothing. VALID, INVALID: it has answered.
    FAILED: it never will. CANCELLED: it was asked to end; what it still answers counts.
    """

    QUEUED = "Queued"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    VALID = "Valid"
    INVALID = "Invalid"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


_LIVE = frozenset({AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.UNKNOWN})
_NO_ANSWER = frozenset({AttemptState.INVALID, AttemptState.FAILED})


class AttemptSeen(Struct, frozen=True, kw_only=True):
    """One attempt. started_at: when its worker began, as far as anybody has told; None: not told yet."""

    provider: str
    launched_at: float
    state: AttemptState = AttemptState.UNKNOWN
    started_at: float | None = None

    @property
    def live(self) -> bool:
        """It runs or waits, and nobody has given it up."""
        return self.state in _LIVE

    @property
    def in_vain(self) -> bool:
        """It has ended without a valid answer."""
        return self.state in _NO_ANSWER


class Pace(Struct, frozen=True, kw_only=True):
    """What a provider has shown, as times since an attempt's launch.

    start_seconds: by when nine of ten workers that answer quickly have begun, start_limit: by when all have;
    answer_seconds: by when nine of ten have answered. None: not known. late: share of the newest attempts that began
    later than that, or failed; the newest count most. cold: the next attempt will most likely be late.
    late_start_seconds, late_answer_seconds: by when those have begun that were late, and half of them have answered;
    None: not known, or they were overtaken.
    """

    start_seconds: float | None = None
    start_limit: float | None = None
    answer_seconds: float | None = None
    late: float = 0.0
    cold: bool = False
    late_start_seconds: float | None = None
    late_answer_seconds: float | None = None


class ProviderSeen(Struct, frozen=True, kw_only=True):
    """One provider of the endpoint. shows_start: whether anybody tells when a worker begins, the provider or our code
    in it. free_in_queue: a queued attempt that is cancelled costs nothing. open: it may be used (breaker, limits).
    """

    name: str
    pace: Pace = Pace()
    shows_start: bool = False
    free_in_queue: bool = False
    open: bool = True


class Situation(Struct, frozen=True, kw_only=True):
    """A request at one moment. providers: in order of preference. may_hedge: load and budget allow one more attempt."""

    now: float
    providers: tuple[ProviderSeen, ...]
    attempts: tuple[AttemptSeen, ...] = ()
    max_live: int = 2
    may_hedge: bool = True

    @property
    def live(self) -> tuple[AttemptSeen, ...]:
        """The attempts that still may answer and were not given up."""
        return tuple(attempt for attempt in self.attempts if attempt.live)

    @property
    def untried(self) -> tuple[ProviderSeen, ...]:
        """Open providers without an attempt for this request, in order."""
        tried = {attempt.provider for attempt in self.attempts}
        return tuple(provider for provider in self.providers if provider.open and provider.name not in tried)

    def provider(self, name: str) -> ProviderSeen:
        """By its name."""
        return next(provider for provider in self.providers if provider.name == name)

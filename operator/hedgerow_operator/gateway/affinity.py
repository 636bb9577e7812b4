"""Which provider holds a session's cache."""

from collections import OrderedDict

_MOST_SESSIONS = 10_000


class Sessions:
    """Bounded; the one that was used least lately is forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def keeper(self, session: str, now: float) -> str | None:
        """The provider that answered its last request; None: too long ago."""
        provider, until = self._kept.get(session, ("", 0.0))
        return provider if now < until else None

    def answered(self, session: str, provider: str, now: float, ttl_seconds: float) -> None:
        """The provider has answered it now."""
        self._kept[session] = (provider, now + ttl_seconds)
        self._kept.move_to_end(session)
        if len(self._kept) > _MOST_SESSIONS:
            self._kept.popitem(last=False)

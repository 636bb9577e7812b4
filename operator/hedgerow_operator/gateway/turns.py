"""Which provider comes first, where several share the requests by weight."""

from collections.abc import Sequence

from hedgerow_operator.gateway.settings import ProviderUse


class Turns:
    """Smooth weighted round robin, as nginx does it: no provider gets its share in a burst."""

    def __init__(self, uses: Sequence[ProviderUse]) -> None:
        self._names = tuple(use.name for use in uses)
        self._weights = {use.name: use.weight for use in uses if use.weight}
        self._credit = dict.fromkeys(self._weights, 0)
        self._total = sum(self._weights.values())

    def next(self) -> tuple[str, ...]:
        """All of them, the one whose turn it is first."""
        if len(self._weights) < 2:
            return self._names
        for name, weight in self._weights.items():
            self._credit[name] += weight
        turn = max(self._credit, key=self._credit.__getitem__)
        self._credit[turn] -= self._total
        return (turn, *(name for name in self._names if name != turn))

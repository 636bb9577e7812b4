"""Which speakers are in the middle of a Python traceback: only there is a line like ``ValueError: x`` an exception."""

from hedgerow_operator.core.attribution.log.speaker import Speaker

_START = "Traceback (most recent call last)"
_IGNORED = "Exception ignored in"
# Deep recursion is cut by Python itself after a thousand frames of two lines.
_LONGEST = 2500
_MAX_SPEAKERS = 100_000


class Tracebacks:
    """Open tracebacks by speaker."""

    def __init__(self) -> None:
        self._open: dict[tuple[int | None, int | None], int] = {}
        self._ignored: set[tuple[int | None, int | None]] = set()

    def feed(self, speaker: Speaker, words: str, prefixed: bool, line: int) -> bool:
        """Whether an exception in this line would end a traceback.

        prefixed: PyTorch's own prefix, which it writes in front of exceptions that nobody caught; then the beginning
        may be lost.
        """
        who = (speaker.rank, speaker.local_rank)
        if _IGNORED in words:
            self._ignored.add(who)
        elif _START in words:
            if who in self._ignored:
                self._ignored.discard(who)
                self._open.pop(who, None)
            elif len(self._open) < _MAX_SPEAKERS:
                self._open[who] = line
            return False
        return prefixed or line - self._open.get(who, -_LONGEST) < _LONGEST

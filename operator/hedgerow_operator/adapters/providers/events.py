"""Server-sent events out of bytes as they come (HTML, 9.2.6): the data of each."""

from collections.abc import AsyncIterator

from hedgerow_operator.adapters.providers.contract import ProviderError

# One event may carry a whole answer.
_MOST_BYTES = 64 << 20


async def data_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Raises ProviderError, where the pieces do and where an event has no end."""
    rest, lines = b"", list[bytes]()
    async for piece in pieces:
        rest += piece
        if len(rest) > _MOST_BYTES:
            raise ProviderError("an event of its stream has no end")
        *whole, rest = rest.replace(b"\r\n", b"\n").split(b"\n")
        for line in whole:
            if line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif not line and lines:
                yield b"\n".join(lines)
                lines = []
    if rest.startswith(b"data:"):
        lines.append(rest[5:].removeprefix(b" "))
    if lines:
        yield b"\n".join(lines)

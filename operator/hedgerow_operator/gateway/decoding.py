"""JSON of others, whatever it is."""

from typing import Any

import msgspec


def decoded(data: bytes) -> Any:
    """Raises ValueError, also where it is nested too deep to be read."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None

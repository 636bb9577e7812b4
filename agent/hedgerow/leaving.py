"""Whether the launcher has nothing more to do, and the exit code to leave with. Pure."""

from __future__ import annotations

import dataclasses
import signal
from typing import Optional

# Ranks that all ended well, and no operator for this long: nobody is left to say finish.
SILENT_OPERATOR_SECONDS = 60.0
TERMINATED = 128 + int(signal.SIGTERM)


@dataclasses.dataclass(frozen=True)
class Situation:
    """What the launcher knows while none of its ranks is alive.

    finish_code: the operator said finish. signalled: the platform asked us to end. began: an attempt ran here, with
    worst_exit_code. silence: seconds since the operator was last heard.
    """

    has_operator: bool
    finish_code: Optional[int] = None
    signalled: bool = False
    began: bool = False
    worst_exit_code: int = 0
    silence: float = 0.0


def exit_code(now: Situation) -> Optional[int]:
    """The code to leave with; None: stay, and wait for a command."""
    succeeded = now.began and now.worst_exit_code == 0
    if now.finish_code is not None:
        return now.finish_code
    if now.signalled:
        return 0 if succeeded else TERMINATED
    if not now.began:
        return None
    if not now.has_operator:
        return now.worst_exit_code
    return 0 if succeeded and now.silence >= SILENT_OPERATOR_SECONDS else None

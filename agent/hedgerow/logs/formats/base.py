"""What every format reader is, and what most of them do."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from hedgerow.logs.line import Line
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_STEP


class LineFormat:
    """Reads the lines of one format. It may remember what it has seen; every stream has its own.

    markers: a line of the format holds at least one of them; none: any line may be one.
    """

    name = ""
    markers: Tuple[bytes, ...] = ()

    def read(self, line: Line) -> List[Observation]:
        """What the line says; nothing if it is not of this format. Never raises."""
        raise NotImplementedError

    def step(self, line: Line, step: Optional[int], **more: Any) -> Observation:
        """The end of one training step."""
        more.setdefault("phase", PHASE_STEP)
        return self.say(line, step=step, boundary=True, finished=True, **more)

    def say(self, line: Line, **what: Any) -> Observation:
        """An observation with the time and rank of the line."""
        if "time" not in what:
            what["time"], what["zoned"] = line.clock
        what.setdefault("rank", line.rank)
        return Observation(source=self.name, local_rank=line.local_rank, speaker=line.speaker, **what)

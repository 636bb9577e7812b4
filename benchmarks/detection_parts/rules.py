"""The rules that others go by, on the same streams: time-outs, a multiple of the longest interval, a log pattern.

Sources: PyTorch's and DeepSpeed's fixed time-outs (300 s and 600 s are their usual settings); the NVIDIA Resiliency
Extension multiplies the longest interval seen by 5 and leaves out the first 5; the operator of Amazon SageMaker
HyperPod expects a line that tells a step every 300 s. Each is given the 1,800 s that we give to a start.
"""

from detection_parts.stream import Interval

START_SECONDS = 1800.0
SAFETY = 5.0
WARM_UP = 5
EXIT_SECONDS = 1.0


class Rule:
    """Silence of ``limit`` seconds is a stall. ``of_steps``: only a finished step breaks it, no other boundary."""

    def __init__(self, name: str, limit: float, of_steps: bool = False) -> None:
        self.name = name
        self.limit = limit
        self._of_steps = of_steps
        self._silent = 0.0
        self._begun = False

    def fires(self, interval: Interval) -> float | None:
        """Seconds into the interval at which it restarts the job, None: it does not."""
        failed = [entry for entry in interval.exits if entry.code != 0]
        if failed:
            return failed[0].after + EXIT_SECONDS
        limit = self.bound() if self._begun else START_SECONDS
        before, silent = self._silent, self._silent + interval.seconds
        self.learn(interval)
        self._silent = silent
        if interval.steps or not self._of_steps:
            self._silent, self._begun = 0.0, True
        if silent <= limit or (before > limit and not interval.fault):
            return None
        return max(0.0, limit - before)

    def bound(self) -> float:
        """Seconds of silence that it allows now."""
        return self.limit

    def learn(self, interval: Interval) -> None:
        """Take one more interval in."""


class FiveLongest(Rule):
    """Five times the longest interval seen so far."""

    def __init__(self) -> None:
        super().__init__("5 x longest", 300.0)
        self._seen = 0
        self._longest = 0.0

    def bound(self) -> float:
        """As NVIDIA's extension calculates it; its preset until it can."""
        return SAFETY * self._longest if self._longest else self.limit

    def learn(self, interval: Interval) -> None:
        """The first few do not count."""
        self._seen += 1
        if self._seen > WARM_UP:
            self._longest = max(self._longest, interval.seconds)


def others() -> list[Rule]:
    """Fresh ones, for one run."""
    return [Rule("600 s", 600.0), Rule("300 s", 300.0), FiveLongest(), Rule("regex 300 s", 300.0, of_steps=True)]

"""Batches of labelled points. A lock guards the reader, as in many real data loaders."""

import random
import threading
import time


class Loader:
    """Reads the batches of one rank; each takes about ``read_seconds``, as a disk or an object store would."""

    def __init__(self, rank, batch_size, read_seconds, stuck_at):
        self._rank = rank
        self._batch_size = batch_size
        self._read_seconds = read_seconds
        self._stuck_at = stuck_at
        self._lock = threading.Lock()

    def next_batch(self, step):
        """The batch of this step: [(x, y, 1 if inside the circle else 0)]."""
        with self._lock:
            if self._stuck_at(step):
                self._refill()
            return self._read(step)

    def _refill(self):
        with self._lock:  # next_batch holds it already: this waits for ever
            time.sleep(self._read_seconds)

    def _read(self, step):
        time.sleep(self._read_seconds)
        source = random.Random(1000 * step + self._rank)
        points = [(source.uniform(-2.0, 2.0), source.uniform(-2.0, 2.0)) for _ in range(self._batch_size)]
        return [(x, y, 1.0 if x * x + y * y < 2.0 else 0.0) for x, y in points]

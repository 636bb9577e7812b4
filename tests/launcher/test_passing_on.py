"""What ranks write arrives at the launcher's own standard output and error, byte for byte."""

from __future__ import annotations

import hashlib

from tests.launcher.launching import Launch, python

# No lines, bars that end in carriage returns, bytes that are no text, and an end without a line end.
WRITE = """
import hashlib, os, random, threading
def write(descriptor, seed):
    draw = random.Random(seed)
    for _ in range(400):
        piece = draw.choice([b"line\\n", b"\\r 10%|##  |", b"\\0\\xff\\xfe", os.urandom(1000)]) * draw.randrange(1, 200)
        sums[descriptor].update(piece)
        while piece:
            piece = piece[os.write(descriptor, piece):]
sums = {1: hashlib.sha256(), 2: hashlib.sha256()}
both = [threading.Thread(target=write, args=(descriptor, descriptor)) for descriptor in sums]
for thread in both: thread.start()
for thread in both: thread.join()
with open(os.environ["SUMS"], "w") as file:
    file.write(sums[1].hexdigest() + " " + sums[2].hexdigest())
"""


def test_both_streams_arrive_unchanged_and_in_order(launch: Launch) -> None:
    launcher = launch(*python(WRITE), reports=False, SUMS="sums")
    assert launcher.wait(60) == 0
    out, err = launcher.path("out").read_bytes(), launcher.path("err").read_bytes()
    first, second = err.index(b"\n") + 1, err.rindex(b"hedgerow: rank 0 ended")
    assert err[:first] == b"hedgerow: attempt 1 starts\n"
    found = [hashlib.sha256(data).hexdigest() for data in (out, err[first:second])]
    assert found == launcher.path("sums").read_text().split()

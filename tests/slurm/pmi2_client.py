"""A rank that speaks PMI2 with Slurm over PMI_FD: tells the others something, and says what they told.

The protocol is text: ``cmd=init`` as a line, then six digits of length and ``name=value;`` pairs
(src/plugins/mpi/pmi2 of Slurm).
"""

import os
import sys
import time

FD = int(os.environ["PMI_FD"])
JOB = os.environ["PMI_JOBID"]


def exactly(count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += os.read(FD, count - len(data))
    return data


def ask(words: str) -> dict[str, str]:
    os.write(FD, b"%6d%s" % (len(words), words.encode()))
    answer = exactly(int(exactly(6))).decode()
    fields = dict(pair.split("=", 1) for pair in answer.split(";") if pair)
    assert fields["rc"] == "0", answer
    return fields


os.write(FD, b"cmd=init pmi_version=2 pmi_subversion=0\n")
assert b"rc=0" in os.read(FD, 4096)
place = ask(f"cmd=fullinit;pmijobid={JOB};pmirank={os.environ['PMI_RANK']};threaded=FALSE;")
rank, size = int(place["rank"]), int(place["size"])
ask(f"cmd=kvs-put;key=card-{rank};value=node-{os.environ['SLURMD_NODENAME']};")
ask("cmd=kvs-fence;")
cards = [ask(f"cmd=kvs-get;jobid={JOB};key=card-{other};")["value"] for other in range(size)]
ask("cmd=finalize;")
print("rank", rank, "of", size, *cards, flush=True)
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)

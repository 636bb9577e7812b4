"""What ranks run instead of the plain quickstart: the same training with a trouble of its own."""

from tests.cluster.scenario.manifests import Fields, wrapped_container

TRAIN = """
import os, runpy, sys, threading, time
rank, attempt = int(os.environ["RANK"]), int(os.environ["HEDGEROW_ATTEMPT"])
{trouble}
sys.path.insert(0, "/code")
runpy.run_path("/code/train.py", run_name="__main__")
"""
EXITS_ONCE = """
if attempt == 1 and rank == 3:
    threading.Timer(3, lambda: os._exit(1)).start()
"""
FAILS_ALIKE = """
time.sleep(1)
raise ValueError("learning rate must be positive")
"""
IGNORES_TERM = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
NEVER_LEAVES = """
import atexit
if attempt == 1 and rank == 3:
    atexit.register(time.sleep, 3600)
"""


def run_with(job: Fields, trouble: str) -> Fields:
    """The job with this trouble before its training."""
    wrapped_container(job)["command"] = ["python3", "-c", TRAIN.format(trouble=trouble)]
    return job

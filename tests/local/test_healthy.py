"""A healthy job is left alone."""

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import STALLED
from tests.local.processes import LocalRun

# Sixty seconds with what real jobs do: steps of varying length, evaluation, saving, a long pause now and then.
HEALTHY = """
import os, random, time
import hedgerow
rank = int(os.environ["RANK"])
source = random.Random(rank)
end = time.monotonic() + 60
step = 0
while time.monotonic() < end:
    step += 1
    hedgerow.beat(step=step)
    time.sleep(source.uniform(0.05, 0.15))
    if step % 100 == 0:
        hedgerow.beat(phase="eval")
        time.sleep(3)
    if step % 40 == 0 and rank == 0:
        hedgerow.beat(phase="checkpoint")
        time.sleep(1)
"""


def test_a_healthy_minute_has_no_incident(run: LocalRun) -> None:
    controller = run.write(script=run.script(HEALTHY)).start()
    code, output = run.end(controller, 100)
    status = run.job().status
    assert (code, status.attempt, status.restarts, status.incident) == (0, 1, 0, None), output
    assert f"{STALLED}=True" not in output
    assert not [kind for kind in reasons.INCIDENT_KINDS if f" {kind}: " in output], output

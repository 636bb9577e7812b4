"""Numbers of real ranks that break: told of, and where the user wants it the end of the job."""

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import DEGRADED, FAILED
from tests.local.processes import LocalRun

NAN_LOSS = """
import os, time
import hedgerow
rank = int(os.environ["RANK"])
for step in range(1, 1000):
    broken = rank == 1 and step > 20
    hedgerow.beat(step=step, loss=float("nan") if broken else 2.0 / step)
    time.sleep(0.1)
    if step == int(os.environ["LAST"]):
        break
"""


def with_alert(run: LocalRun, action: str, last: int) -> LocalRun:
    """A job of two ranks, of which rank 1's loss is NaN after two seconds."""
    run.write(script=run.script(NAN_LOSS), env={"LAST": str(last)})
    alert = f"{{name: no-nan, metric: loss, when: isNaN, action: {action}}}"
    run.manifest.write_text(run.manifest.read_text() + f"  alerts: [{alert}]\n")
    return run


def test_an_alert_with_stop_ends_the_job_and_names_the_rank(run: LocalRun) -> None:
    code, output = with_alert(run, "Stop", 1000).run()
    failed = run.condition(FAILED)
    assert (code, run.job().status.restarts, failed.status, failed.reason) == (1, 0, "True", reasons.ALERT_STOP), output
    assert "alert no-nan: loss is NaN on rank 1 since " in failed.message
    assert run.alive() == []


def test_an_alert_without_stop_is_told_once_and_the_job_goes_on_to_its_end(run: LocalRun) -> None:
    code, output = with_alert(run, "Alert", 120).run()
    assert (code, run.job().status.degradations, run.condition(DEGRADED).status) == (0, (), "False"), output
    assert output.count("alert no-nan: loss is NaN on rank 1") >= 1
    assert "nan-loss" not in output

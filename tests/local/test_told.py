"""What a person is told by a real run: when it is interrupted, when it fails, and in rows and objects."""

import json
import signal

from tests.local.processes import LocalRun

FAILS = """
import os, sys
sys.exit(3 if os.environ["RANK"] == "1" else 0)
"""


def test_ctrl_c_tells_the_checkpoint_to_resume_from_and_the_command_that_goes_on(run: LocalRun) -> None:
    run.write(env={"STEPS": "500"})
    controller = run.start()
    run.until(lambda: any((run.folder / "checkpoints").glob("step-000010*")))
    run.until(lambda: run.holds("Running") and run.job().status.checkpoint is not None)
    controller.send_signal(signal.SIGINT)
    _code, output = run.end(controller)
    last = output.splitlines()[-1]
    assert "default/run is stopped at step " in last
    assert "it would resume from step " in last
    assert f"({run.folder}/checkpoints/step-" in last
    assert last.endswith(f"to go on: hedgerow local -f {run.manifest} --state-dir {run.state}")
    assert "spec.suspend" not in output


def test_a_failure_tells_where_the_output_of_its_ranks_is(run: LocalRun) -> None:
    run.write(script=run.script(FAILS))
    run.manifest.write_text(run.manifest.read_text().replace("graceSeconds", "maxRestarts: 0, graceSeconds"))
    code, output = run.run()
    assert code == 1
    assert output.splitlines()[-1].endswith(
        f"default/run failed (MaxRestartsExceeded); what its ranks printed is in {run.state}/default/run/placement-1/"
        "worker-0.log"
    )
    assert "Stalled=True" not in output
    assert "Restarting" not in output


def test_each_object_has_a_state_and_each_row_its_columns(run: LocalRun) -> None:
    run.write(env={"STEPS": "3"})
    _code, output = run.run("-o", "json")
    objects = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert {bool(entry["status"]["state"]) for entry in objects} == {True}
    assert objects[-1]["status"]["ranks"]["summary"] == "2/2 done"
    code, output = run.run("-o", "wide")
    rows = output.splitlines()
    assert code == 0
    assert rows[0].split()[:3] == ["NAMESPACE", "NAME", "STATE"]
    assert rows[1].split()[:4] == ["default", "run", "Succeeded", "AllRanksFinished"]

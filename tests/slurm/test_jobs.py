"""TrainingJobs on a real Slurm, by `hedgerow local`: each comes to the end that it should, never twice at once."""

import signal
import time

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import TrainingJobStatus
from tests.slurm import agent_scenarios, operator_scenarios
from tests.slurm.agent_scenarios import HANGS_ON_N3
from tests.slurm.at_once import AtOnce, Scenario, under_way
from tests.slurm.slurm_run import SlurmRun

ALONE = '{exclusive: ""}'
# Trains for ever in its first attempt only.
ENDS_LATER = '[ "$HEDGEROW_ATTEMPT" -gt 1 ] && export STEPS=20 || export STEPS=100000'


# They are played side by side, and a test may wait for those before it.
pytestmark = pytest.mark.timeout(900)


def status(run: SlurmRun, name: str = "run") -> TrainingJobStatus:
    """As it is stored."""
    job = run.job(name)
    assert job is not None, run.logs()
    return job.status


def succeeded(run: SlurmRun, name: str = "run") -> TrainingJobStatus:
    """Ends well, with nothing left."""
    code, output = run.end()
    assert code == 0, output + run.logs()
    assert run.reason("Succeeded", name) == reasons.ALL_RANKS_FINISHED, output
    assert run.ranks(name) == {}
    return status(run, name)


def until_controller_has_saved(run: SlurmRun) -> None:
    """Slurm forgets a job that it has started and not saved when its controller is killed. Each new job makes it save
    all of them.
    """
    asked = time.time()
    run.testbed.run("sbatch --hold --output=/dev/null --wrap=true")
    saved = run.testbed.places.state / "job_state"
    run.until("its controller to save", lambda: saved.exists() and saved.stat().st_mtime > asked)


def after_its_time_limit(run: SlurmRun) -> None:
    run.write(workers=1, time="1", lines=ENDS_LATER).start()
    ended = succeeded(run)
    assert ended.history[0].reason == reasons.TIME_LIMIT_REACHED
    assert (ended.history[0].counted, ended.restarts, ended.restarts_counted) == (False, 1, 0)
    assert ended.resume_step == (ended.history[0].last_step or 0) // 10 * 10 >= 20


def without_a_node_that_dies(run: SlurmRun) -> None:
    run.write(steps=100000).start()
    run.until_training(10)
    run.testbed.kill_node("n3")
    run.until_training(attempt=2)
    assert {node for _, node in run.ranks().values()} == {"n1", "n2", "n4"}


def without_a_node_whose_slurmd_dies_though_its_rank_lives_on(run: SlurmRun) -> None:
    run.write(steps=100000).start()
    run.until_training(10)
    run.testbed.kill("slurmd.n3")
    run.until_training(attempt=2)
    assert {node for _, node in run.ranks().values()} == {"n1", "n2", "n4"}
    assert status(run).history[0].reason == reasons.NODE_LOST
    assert [entry.name for entry in status(run).excluded_nodes] == ["n3"]


def in_place_then_anew_then_without_the_node_on_which_a_rank_hangs(run: SlurmRun) -> None:
    run.write(lines=HANGS_ON_N3).start()
    ended = succeeded(run)
    assert [entry.placement for entry in ended.history] == [1, 1, 3]
    assert {entry.reason for entry in ended.history} == {reasons.NO_PROGRESS}
    assert [entry.name for entry in ended.excluded_nodes] == ["n3"]
    assert (run.nodes_of(1), run.nodes_of(4)) == ({"n1", "n2", "n3"}, {"n1", "n2", "n4"})


def with_the_suspect_again_where_there_are_too_few_without_it(run: SlurmRun) -> None:
    hangs = HANGS_ON_N3.replace(" && ", ' && [ "$HEDGEROW_ATTEMPT" -lt 4 ] && ', 1)
    run.write(workers=4, lines=hangs, recovery=", exclude: {maxWaitSeconds: 5}").start()
    told = succeeded(run)
    assert (told.excluded_nodes, run.nodes_of(4)) == ((), {"n1", "n2", "n3", "n4"})
    assert reasons.EXCLUSION_TOO_TIGHT in (run.state / "hedgerow.log").read_text()


def under_its_number_when_it_is_requeued(run: SlurmRun) -> None:
    run.write(lines=HANGS_ON_N3, resubmit="Requeue").start()
    ended = succeeded(run)
    assert [entry.placement for entry in ended.history] == [1, 1, 3]
    assert [entry.name for entry in ended.excluded_nodes] == ["n3"]
    assert run.slurm_jobs() == ["COMPLETED"]
    assert run.nodes_of(1) == {"n1", "n2", "n4"}


def when_slurmctld_dies_in_the_middle_of_a_recovery(run: SlurmRun) -> None:
    run.write(lines=HANGS_ON_N3).start()
    run.until("a removal", lambda: (job := run.job()) is not None and job.status.attempt_stage == "Removing")
    run.testbed.kill("slurmctld")
    run.testbed.start_daemon("slurmctld")
    assert run.nodes_of(succeeded(run).placement) == {"n1", "n2", "n4"}


def when_slurmctld_dies_right_after_the_submission(run: SlurmRun) -> None:
    # Not before a moment: what a controller starts and forgets, as it dies before it has saved that, Slurm cancels.
    run.write(options="{begin: now+10}").start()
    run.until("a submission", lambda: run.testbed.run("squeue --noheader --format=%i"))
    run.testbed.kill("slurmctld")
    run.testbed.start_daemon("slurmctld")
    succeeded(run)


def when_slurmctld_dies_while_it_trains(run: SlurmRun) -> None:
    run.write(steps=300).start()
    run.until_training(10)
    until_controller_has_saved(run)
    run.testbed.kill("slurmctld")
    run.until_training(run.printed_step() + 20)
    run.testbed.start_daemon("slurmctld")
    assert succeeded(run).restarts == 0


def never_once_a_person_has_cancelled_it(run: SlurmRun) -> None:
    run.write(steps=100000).start()
    run.until_training()
    run.testbed.run(["scancel", run.slurm_job()])
    code, output = run.end()
    assert (code, run.reason("Failed")) == (1, reasons.CANCELLED_OUTSIDE), output
    assert run.slurm_jobs() == ["CANCELLED"]
    assert (run.ranks(), status(run).attempt) == ({}, 1)


def once_a_hold_is_released(run: SlurmRun) -> None:
    def held() -> bool:
        job = run.job()
        return job is not None and job.status.reason == reasons.JOB_HELD

    run.write(options='{hold: ""}').start()
    run.until("the hold to be told", held)
    run.testbed.run(["scontrol", "release", run.slurm_job()])
    succeeded(run)


def while_an_administrator_drains_a_node(run: SlurmRun) -> None:
    run.write(steps=200).start()
    run.until_training(10)
    run.testbed.run("scontrol update nodename=n2 state=drain reason=maintenance")
    assert succeeded(run).restarts == 0
    assert run.testbed.run("sinfo --noheader --nodes=n2 --format='%T %E'") == "drained maintenance"


def beside_another_job(run: SlurmRun) -> None:
    for name in ("one", "two"):
        run.write(name, workers=2, options=ALONE, steps=300)
    run.start()
    run.until("both to train", lambda: run.ranks("one") and run.ranks("two"))
    nodes = [{node for _, node in run.ranks(name).values()} for name in ("one", "two")]
    assert nodes[0].isdisjoint(nodes[1])
    succeeded(run, "one")
    assert run.reason("Succeeded", "two") == reasons.ALL_RANKS_FINISHED


def from_its_checkpoint_after_ctrl_c(run: SlurmRun) -> None:
    controller = run.write(lines=ENDS_LATER).start()
    run.until_training(20)
    controller.send_signal(signal.SIGINT)
    _, output = run.end()
    assert "is stopped at step" in output
    assert (run.ranks(), run.testbed.run("squeue --noheader")) == ({}, "")
    run.start()
    ended = succeeded(run)
    assert (ended.attempt, ended.restarts_counted, ended.resume_step is not None) == (2, 0, True)


def from_its_checkpoint_after_two_ctrl_c(run: SlurmRun) -> None:
    # Ranks that do not end at TERM, so that there is a time to be impatient in.
    controller = run.write(lines=f"trap '' TERM; {ENDS_LATER}", grace=60).start()
    run.until_training(20)
    controller.send_signal(signal.SIGINT)
    run.until("the ranks to be told", lambda: status(run).attempt_stage == "Stopping")
    controller.send_signal(signal.SIGTERM)
    run.end()
    run.until("the Slurm job to end", lambda: run.testbed.run("squeue --noheader") == "")
    run.start()
    assert succeeded(run).resume_step is not None


def when_its_own_controller_was_killed_and_comes_back(run: SlurmRun) -> None:
    # However long it is away, they train.
    controller = run.write(steps=100000).start()
    run.until_training(10)
    ranks, number = set(run.ranks()), run.slurm_job()
    controller.kill()
    controller.wait()
    step, again = run.printed_step(), run.start()
    run.until("its step to be told", lambda: (status(run).step or 0) > step + 10)
    assert (set(run.ranks()), run.slurm_job()) == (ranks, number)
    again.send_signal(signal.SIGINT)
    _, output = run.end()
    assert "is stopped at step" in output
    assert (run.ranks(), status(run).attempt, len(run.slurm_jobs())) == ({}, 1, 1)


# The longest first.
SCENARIOS: dict[str, Scenario] = {
    scenario.__name__.replace("_", " "): scenario
    for scenario in (
        after_its_time_limit,
        under_its_number_when_it_is_requeued,
        with_the_suspect_again_where_there_are_too_few_without_it,
        without_a_node_that_dies,
        without_a_node_whose_slurmd_dies_though_its_rank_lives_on,
        in_place_then_anew_then_without_the_node_on_which_a_rank_hangs,
        when_slurmctld_dies_in_the_middle_of_a_recovery,
        operator_scenarios.through_slurmrestd_without_the_node_on_which_a_rank_hangs,
        agent_scenarios.through_slurmrestd_without_a_node_whose_agent_says_that_its_gpu_is_lost_and_which_is_drained,
        operator_scenarios.while_slurmrestd_is_away_and_a_token_runs_out,
        operator_scenarios.until_its_object_is_deleted_which_waits_for_its_slurm_job,
        when_slurmctld_dies_right_after_the_submission,
        when_slurmctld_dies_while_it_trains,
        from_its_checkpoint_after_ctrl_c,
        from_its_checkpoint_after_two_ctrl_c,
        when_its_own_controller_was_killed_and_comes_back,
        agent_scenarios.without_a_node_whose_agent_says_that_its_gpu_is_lost,
        once_a_hold_is_released,
        beside_another_job,
        while_an_administrator_drains_a_node,
        never_once_a_person_has_cancelled_it,
    )
}


at_once = under_way(SCENARIOS, "goes_on")


@pytest.mark.parametrize("goes_on", SCENARIOS)
def test_a_job_goes_on(goes_on: str, at_once: AtOnce) -> None:
    at_once.result(goes_on)

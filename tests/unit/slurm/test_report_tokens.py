"""Tokens of launchers on a SlurmCluster: only who was given one is believed, and only digests are kept."""

import dataclasses

import pytest

from hedgerow import wire
from hedgerow_operator.adapters.slurm.report_tokens import ByPlace, ReportTokens
from hedgerow_operator.api.labels import ANNOTATION_REPORT_TOKENS
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.server.auth import Denied
from tests.unit.core.builders import UID, make_job, make_report
from tests.unit.reconcile.fakes import Calls, FakeJobs


class Others:
    """Another authenticator; believes everybody, and says that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def check(self, token: str | None, claim: object) -> None:
        self.asked += 1

    def recall(self, token: str, claim: object) -> bool:
        self.asked += 1
        return True


async def given(tokens: ReportTokens, job: TrainingJob | None = None) -> tuple[str, TrainingJob]:
    """A new token and the job as it is stored with it."""
    job = job or make_job()
    return await tokens.new(job, FakeJobs(job, Calls()))


async def test_a_launcher_with_its_token_is_believed_and_the_token_itself_is_stored_nowhere() -> None:
    tokens = ReportTokens()
    token, job = await given(tokens)
    tokens.check(token, make_report())
    assert token not in job.metadata.annotations[ANNOTATION_REPORT_TOKENS]


@pytest.mark.parametrize("wrong", [None, "", "another", "\udcff"])
async def test_whoever_has_another_is_not(wrong: str | None) -> None:
    tokens = ReportTokens()
    await given(tokens)
    with pytest.raises(Denied, match="is not the one"):
        tokens.check(wrong, make_report())


async def test_a_new_process_knows_the_tokens_from_the_job() -> None:
    token, job = await given(ReportTokens())
    anew = ReportTokens()
    anew.learn(job)
    anew.check(token, make_report())


async def test_launchers_of_the_placements_before_are_believed_for_a_while() -> None:
    tokens = ReportTokens()
    token, job = await given(tokens)
    for _ in range(2):
        _, job = await given(tokens, job)
    tokens.check(token, make_report())
    await given(tokens, job)
    with pytest.raises(Denied):
        tokens.check(token, make_report())


async def test_a_report_that_names_another_job_than_its_uid_is_refused() -> None:
    tokens = ReportTokens()
    token, _ = await given(tokens)
    with pytest.raises(Denied, match="by its name") as refusal:
        tokens.check(token, make_report_of("other"))
    assert refusal.value.identified


async def test_jobs_elsewhere_are_somebody_elses_question() -> None:
    tokens, others = ReportTokens(), Others()
    by_place = ByPlace(tokens, others)
    await by_place.check("anything", make_report())
    assert by_place.recall("anything", make_report())
    assert others.asked == 2
    token, _ = await given(tokens)
    await by_place.check(token, make_report())
    with pytest.raises(Denied):
        by_place.recall("anything", make_report())
    assert others.asked == 2


async def test_a_job_that_is_gone_is_forgotten() -> None:
    tokens = ReportTokens()
    await given(tokens)
    tokens.forget(UID)
    assert not tokens.knows(UID)


def make_report_of(name: str) -> wire.Report:
    """A report of this job's uid under another name."""
    return dataclasses.replace(make_report(), job=wire.JobRef(UID, "ml", name))

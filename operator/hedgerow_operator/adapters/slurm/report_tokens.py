"""What launchers of jobs on a SlurmCluster prove themselves with: a secret a placement, of which only a digest is kept,
in an annotation of the job, so that the operator needs no right to write Secrets.
"""

import hashlib
import hmac
import secrets

from hedgerow_operator.api.labels import ANNOTATION_REPORT_TOKENS
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.reconcile.ports import JobKey, Jobs
from hedgerow_operator.server.auth import Authenticator, Denied, LauncherClaim

# The launchers of a placement that is on its way out are still heard.
_KEPT = 3


class ReportTokens:
    """The digests of every job that was looked at."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[JobKey, tuple[str, ...]]] = {}

    def learn(self, job: TrainingJob) -> tuple[str, ...]:
        """Take in what the job's annotation says."""
        written = job.metadata.annotations.get(ANNOTATION_REPORT_TOKENS, "")
        digests = tuple(filter(None, written.split(",")))
        self._known[job.metadata.uid] = JobKey(job.metadata.namespace, job.metadata.name), digests
        return digests

    async def new(self, job: TrainingJob, jobs: Jobs) -> tuple[str, TrainingJob]:
        """A new token, whose digest is stored, and the job as stored. Raises Conflict, Unreachable."""
        token = secrets.token_urlsafe(32)
        digests = (_digest(token), *self.learn(job))[:_KEPT]
        stored = await jobs.annotate(job, ANNOTATION_REPORT_TOKENS, ",".join(digests))
        self.learn(stored)
        return token, stored

    def forget(self, uid: str) -> None:
        """The job is gone."""
        self._known.pop(uid, None)

    def jobs(self) -> tuple[JobKey, ...]:
        """Every job on a SlurmCluster."""
        return tuple(key for key, _digests in self._known.values())

    def knows(self, uid: str) -> bool:
        """Whether the job is on a SlurmCluster."""
        return uid in self._known

    def check(self, token: str | None, claim: LauncherClaim) -> None:
        """Raises Denied."""
        key, digests = self._known.get(claim.job.uid, (None, ()))
        given = _digest(token or "")
        # Every one is compared, whichever fits.
        if not token or not sum([hmac.compare_digest(given, digest) for digest in digests]):
            raise Denied("the token is not the one of the job that the report names")
        if key != JobKey(claim.job.namespace, claim.job.name):
            raise Denied("the report names one job by its uid and another by its name", identified=True)


class ByPlace:
    """An Authenticator: launchers on Slurm by their tokens, others as ``others`` do."""

    def __init__(self, tokens: ReportTokens, others: Authenticator[LauncherClaim]) -> None:
        self._tokens = tokens
        self._others = others

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        """See server.auth.Authenticator."""
        if self._tokens.knows(claim.job.uid):
            self._tokens.check(token, claim)
        else:
            await self._others.check(token, claim)

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        """Likewise; a digest is made as quickly as anything is remembered."""
        if not self._tokens.knows(claim.job.uid):
            return self._others.recall(token, claim)
        self._tokens.check(token, claim)
        return True


def _digest(token: str) -> str:
    # Bytes of a header that are no text arrive as lone surrogates.
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()

"""One secret a job, in a file that only its owner can read."""

import hmac
import secrets
from collections.abc import Callable
from pathlib import Path

from hedgerow_operator.adapters.local.files import read_text, read_word, write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.server.auth import Denied, LauncherClaim


def ensure_token(paths: StatePaths, key: JobKey) -> str:
    """The job's token; made when there is none. Raises OSError, UnicodeDecodeError."""
    return _ensured(paths.token(key))


def ensure_agents_token(paths: StatePaths) -> str:
    """Likewise the one of node agents."""
    return _ensured(paths.agents_token)


def _ensured(path: Path) -> str:
    token = (read_text(path) or "").strip()
    if not token:
        token = secrets.token_urlsafe(32)
        write_whole(path, token.encode() + b"\n", mode=0o600)
    return token


class TokenFiles:
    """Believes a report that carries the token of the job that it names."""

    def __init__(self, paths: StatePaths, key_of: Callable[[str], JobKey | None]) -> None:
        self._paths = paths
        self._key_of = key_of

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        """See server.auth.Authenticator."""
        self.recall(token, claim)

    def recall(self, token: str | None, claim: LauncherClaim) -> bool:
        """Likewise; a small file is read as quickly as anything is remembered."""
        key = self._key_of(claim.job.uid)
        expected = "" if key is None else read_word(self._paths.token(key))
        # Bytes of a header that are no text arrive as lone surrogates.
        given = (token or "").encode(errors="surrogateescape")
        if not given or not expected or not hmac.compare_digest(given, expected.encode()):
            raise Denied("the token is not the one of the job that the report names")
        if key != JobKey(claim.job.namespace, claim.job.name):
            raise Denied("the report names one job by its uid and another by its name", identified=True)
        return True

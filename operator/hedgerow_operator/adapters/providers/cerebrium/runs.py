"""Cerebrium's runs, by its management API: seen live only, so nothing rests on it but the end of a run that is ours."""

from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.values import mapping, rows, text

_OVER = frozenset({"success", "completed", "failed", "failure", "cancelled", "canceled", "timeout"})


class Runs:
    """url: …/projects/PROJECT/apps/APP/runs. All raise ProviderError."""

    def __init__(self, url: str, connection: Connection) -> None:
        self._url, self._connection = url.rstrip("/"), connection

    async def open(self) -> tuple[str, ...]:
        """The ids of those that have not ended, as far as it says."""
        what = "the list of runs"
        said = read_json(what, await self._connection.ask(what, "GET", self._url))
        listed = rows(said) or rows(mapping(said).get("items")) or rows(mapping(said).get("runs"))
        return tuple(
            text(one.get("id")) or text(one.get("run_id"))
            for one in listed
            if text(one.get("status")).lower() not in _OVER and (one.get("id") or one.get("run_id"))
        )

    async def delete(self, run_id: str) -> None:
        """Ask for its end."""
        await self._connection.ask(f"the end of run {run_id}", "DELETE", f"{self._url}/{run_id}")

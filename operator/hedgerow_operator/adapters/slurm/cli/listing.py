"""Jobs and nodes as squeue, sacct, sinfo and scontrol list them: as JSON where the installed Slurm has it, else text.

JSON of squeue lists every user's jobs in full. On a cluster so crowded that this grows beyond reason, text is taken,
which tells of our own jobs only (and not of excluded nodes).
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from hedgerow_operator.adapters.slurm import errors
from hedgerow_operator.adapters.slurm.cli import commands
from hedgerow_operator.core.slurm import job_json, job_text, node_json, node_text, records, values
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode
from hedgerow_operator.reconcile.ports import Unreachable

_FIRST_JSON = (21, 8)  # release notes of 21.08
# From here on sinfo's JSON has groups of nodes; scontrol's has each (release notes of 23.02).
_FIRST_SCONTROL_JSON = (23, 2)
_MOST_JSON = 8 * 1024 * 1024
Item = TypeVar("Item")
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?\S*")


class Listing:
    """One user's view. user: uid and name."""

    def __init__(self, environment: Mapping[str, str], user: tuple[int, str]) -> None:
        self._environment, self._user = environment, user
        self._version = ""
        self._text_of: set[str] = set()

    async def version(self) -> str:
        """Of the installed commands, such as 22.05.8."""
        if not self._version:
            done = await self._run(["squeue", "--version"])
            found = _VERSION.search(done.text)
            if done.code != 0 or found is None:
                raise Unreachable(f"squeue --version: {errors.sentence(done.errors or done.text)}")
            self._version = found[0]
        return self._version

    async def jobs(self) -> tuple[SlurmJob, ...]:
        """Every job of the user that the controller remembers."""
        # Before 23.02 these are ignored with --json: squeue(1).
        which = ["--states=all", f"--user={self._user[0]}"]
        document = await self._json("jobs", ["squeue", "--json", *which], _FIRST_JSON)
        if document is not None:
            entries = [entry for entry in values.items(document.get("jobs")) if self._is_ours(entry)]
            return job_json.read_jobs({"jobs": entries})
        words = ["squeue", "--noheader", *which, f"--Format={records.format_of(job_text.SQUEUE_FIELDS)}"]
        return await self._text(words, job_text.read_squeue)

    async def accounted(self, job_id: str) -> SlurmJob | None:
        """The job in accounting; None: it does not know it, or there is none."""
        words = ["sacct", "--parsable2", "--noheader", "--allocations", f"--delimiter={records.FIELD_END}"]
        words += [f"--jobs={job_id}", f"--user={self._user[0]}"]
        done = await self._run([*words, f"--format={','.join(job_text.SACCT_FIELDS)}"])
        if done.code != 0:
            if errors.says_no_accounting(done.errors + done.text) or errors.says_unknown_job(done.errors):
                return None
            raise Unreachable(f"sacct: {errors.sentence(done.errors)}")
        return next((job for job in job_text.read_sacct(done.text) if job.id == job_id), None)

    async def nodes(self) -> tuple[SlurmNode, ...]:
        """Every node."""
        if self._release(await self.version()) < _FIRST_SCONTROL_JSON:
            document = await self._json("nodes", ["sinfo", "--json"], _FIRST_JSON)
        else:
            document = await self._json("nodes", ["scontrol", "show", "nodes", "--json"], _FIRST_JSON)
        if document is not None:
            return node_json.read_nodes(document)
        words = ["sinfo", "--noheader", "--Node", f"--Format={records.format_of(node_text.SINFO_FIELDS)}"]
        return await self._text(words, node_text.read_sinfo)

    async def _json(self, kind: str, words: Sequence[str], first: tuple[int, int]) -> dict[str, Any] | None:
        """The answer of a command with --json; None: take text, from now on."""
        if kind in self._text_of or self._release(await self.version()) < first:
            return None
        try:
            done = await self._run(words, most_output=_MOST_JSON)
            if done.code == 0:
                # Off the loop, as far as the interpreter's lock lets it.
                document = await asyncio.to_thread(msgspec.json.decode, done.output, type=dict[str, Any])
                return _believed(words[0], document, kind, done.errors)
            if errors.is_transient(done.errors):
                raise Unreachable(f"{words[0]}: {errors.sentence(done.errors)}")
        except (commands.TooMuch, msgspec.MsgspecError, UnicodeDecodeError):
            pass
        self._text_of.add(kind)
        return None

    async def _text(self, words: Sequence[str], read: Callable[[str], Item]) -> Item:
        done = await self._run(words)
        if done.code != 0:
            raise Unreachable(f"{words[0]}: {errors.sentence(done.errors)}")
        return read(done.text)

    async def _run(self, words: Sequence[str], most_output: int = commands.MOST_OUTPUT) -> commands.Done:
        return await commands.run(words, self._environment, most_output=most_output)

    def _is_ours(self, entry: Any) -> bool:
        """Whether the user is ours, by number where it is told, else by name."""
        if not isinstance(entry, Mapping):
            return False
        number = values.number(entry.get("user_id"))
        return entry.get("user_name") == self._user[1] if number is None else number == self._user[0]

    @staticmethod
    def _release(version: str) -> tuple[int, int]:
        major, minor = version.split(".")[:2]
        return int(major), int(minor)


def _believed(program: str, document: dict[str, Any], kind: str, said: str) -> dict[str, Any]:
    """An answer that has a list of what was asked for, and no complaint."""
    told = values.complaints(document) or ("" if isinstance(document.get(kind), list) else f"it lists no {kind}")
    if told:
        raise Unreachable(f"{program} could not ask the controller: {errors.sentence(said) if said.strip() else told}")
    return document

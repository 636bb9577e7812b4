"""What the supervisor of a batch job asks Slurm beside what every driver can: steps, and the job that comes next."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from hedgerow_operator.adapters.slurm.errors import is_transient
from hedgerow_operator.reconcile.ports import Unreachable

# Clients wait for a controller that is away for MessageTimeout (10 s by default) and some more.
SECONDS = 30.0


class Done(Struct, frozen=True):
    """A command that has ended."""

    code: int
    output: str
    errors: str

    @property
    def last_error(self) -> str:
        """Its last line of complaint, without the name of the command."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        return lines[-1].split("error: ", 1)[-1] if lines else f"exit code {self.code}"


async def run(words: Sequence[str], environment: Mapping[str, str] | None = None) -> Done:
    """Run one of Slurm's commands. Raises Unreachable where there is none, or it does not end."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            env=None if environment is None else dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise Unreachable(f"{words[0]} cannot be run: {error.strerror}") from None
    try:
        output, errors = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise Unreachable(f"{words[0]} did not answer within {SECONDS:.0f} s") from None
    return Done(process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace"))


class StepCommands:
    """Of one batch job."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id
        self._tasks: set[asyncio.Task[None]] = set()

    async def live_steps(self) -> frozenset[str]:
        """The steps of which anything still runs, as JOB.STEP. Raises Unreachable."""
        done = await run(["squeue", "--noheader", "--steps", f"--job={self._job_id}", "--format=%i"])
        if done.code != 0:
            raise Unreachable(f"squeue: {done.last_error}")
        return frozenset(done.output.split())

    def signal_steps(self, steps: Iterable[str], name: str) -> None:
        """Every process of theirs; whoever waits for their end sees it."""
        task = asyncio.get_running_loop().create_task(self._signal(list(steps), name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def submit(self, words: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
        """Id of the new job, and "" ; or "" and why there never will be one. Raises Unreachable."""
        done = await run(["sbatch", "--parsable", *words], environment)
        if done.code != 0 and is_transient(done.errors):
            raise Unreachable(f"sbatch: {done.last_error}")
        return (done.output.strip().split(";")[0], "") if done.code == 0 else ("", done.last_error)

    async def exclude(self, job_id: str, nodes: Iterable[str]) -> str:
        """Keep a pending job off these nodes; "" or why that failed. Raises Unreachable."""
        done = await run(["scontrol", "update", f"JobId={job_id}", f"ExcNodeList={','.join(nodes)}"])
        return "" if done.code == 0 else done.last_error

    async def _signal(self, steps: Sequence[str], name: str) -> None:
        with contextlib.suppress(Unreachable):
            await run(["scancel", "--quiet", f"--signal={name}", *steps])

"""Batch jobs that follow one another to bring one script to its end: whether the next goes on. Pure."""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.api import reasons
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import means

# Batch jobs in a row in which no step of a training was done, after which no more follow.
MOST_FRUITLESS = 3
_AGAIN = "#"
# In which a step of it can be started, or nobody knows.
_GOES_ON = frozenset({Kind.ALIVE, Kind.STARTING, Kind.UNKNOWN})
_WANTED = frozenset({reasons.CANCELLED_OUTSIDE, reasons.DEADLINE_EXCEEDED})


class End(StrEnum):
    """How a batch job of the chain says that it ends; "" while it says nothing."""

    NOT_YET = ""
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    TIME_LIMIT = "TimeLimit"
    HANDED_OVER = "HandedOver"


# Nothing follows these.
FINAL = frozenset({End.SUCCEEDED, End.FAILED, End.CANCELLED})


class BatchRun(Struct, frozen=True, kw_only=True):
    """One run of a batch job. run: its number, and where it is not the first of that
    number (requeued by Slurm, or forgotten and begun anew) which it is. exit_code: of the script.
    stepped: a training did a step in it. fruitless: how many in a row up to it, itself included, in which none did.
    excluded: nodes that the next has to avoid.
    """

    run: str
    end: End = End.NOT_YET
    why: str = ""
    exit_code: int = 0
    stepped: bool = False
    fruitless: int = 1
    excluded: tuple[str, ...] = ()


class Chain(Struct, frozen=True, kw_only=True):
    """The batch jobs so far, the newest last. successor: id of the one that waits for the newest; "": none.
    variables: of the array, as the first of a task was told them.
    """

    runs: tuple[BatchRun, ...] = ()
    successor: str = ""
    variables: dict[str, str] = {}

    @property
    def newest(self) -> BatchRun | None:
        """The last that has begun."""
        return self.runs[-1] if self.runs else None

    def begun(self, number: str) -> "Chain":
        """With one of this number that begins now."""
        again = sum(number_of(entry.run) == number for entry in self.runs)
        run = f"{number}{_AGAIN}{again}" if again else number
        last = self.newest
        fruitless = 1 if last is None or last.stepped else last.fruitless + 1
        return replace(self, runs=(*self.runs, BatchRun(run=run, fruitless=fruitless)), successor="")

    def told(self, **changes: object) -> "Chain":
        """With what the newest says of itself."""
        return replace(self, runs=(*self.runs[:-1], replace(self.runs[-1], **changes)))


def number_of(run: str) -> str:
    """What Slurm calls the batch job of a run by."""
    return run.partition(_AGAIN)[0]


class Turn(StrEnum):
    """What a batch job that has begun does about the one before it."""

    GO_ON = "GoOn"
    WAIT = "Wait"
    END = "End"


class Decision(Struct, frozen=True):
    """why: a sentence for people without its full stop. exit_code: to end with."""

    turn: Turn
    why: str = ""
    exit_code: int = 0


def turn(chain: Chain, before: SlurmJob | None, now: float) -> Decision:
    """What to do, as a new batch job. before: the newest of the chain as Slurm shows it now; None: forgotten."""
    last = chain.newest
    if last is None:
        return Decision(Turn.GO_ON)
    meaning = means(before, now) if before is not None else None
    if meaning is not None and meaning.kind is not Kind.ENDED:
        return Decision(Turn.WAIT, meaning.message)
    if last.end in FINAL:
        return Decision(Turn.END, last.why or "the script has ended", last.exit_code)
    # One that handed over ends with an exit code of its own; whatever is said of its end later counts no more.
    if meaning is not None and meaning.cause in _WANTED and last.end is End.NOT_YET:
        return Decision(Turn.END, meaning.message, 1)
    preempted = meaning is not None and meaning.cause == reasons.PREEMPTED
    if not last.stepped and last.fruitless >= MOST_FRUITLESS and not preempted:
        why = f"{last.fruitless} batch jobs in a row ended before a step was done"
        return Decision(Turn.END, f"{why}; the last: {meaning.message}" if meaning else why, 1)
    return Decision(Turn.GO_ON, last.why or (meaning.message if meaning else f"Slurm job {last.run} is forgotten"))


def why_over(own: SlurmJob | None, restarts: int, now: float) -> str:
    """Why a batch job is over for Slurm whose supervisor lives on, on a node that Slurm has lost; "" while it is not.

    own: it, as Slurm shows it; None: forgotten. restarts: how often it had been requeued when the supervisor began.
    """
    if own is None:
        return "Slurm does not know this batch job any more"
    if own.restarts > restarts:
        return "Slurm has put this batch job back, and runs it anew"
    meaning = means(own, now)
    return "" if meaning.kind in _GOES_ON else meaning.message


def end_of_script(code: int, terminated: bool, own: SlurmJob | None, now: float) -> End:
    """How the batch job ends whose script has ended by itself. terminated: Slurm has told it to. own: it, as Slurm
    shows it; None: it could not be asked.

    A script that fails while Slurm ends the job has failed because of that, and one that ends well when it is told to
    has not finished: what follows is decided by the next one, which sees why.
    """
    meaning = means(own, now) if own is not None else None
    if terminated or (code and meaning is not None and meaning.kind is not Kind.ALIVE):
        return End.CANCELLED if meaning is not None and meaning.cause in _WANTED else End.NOT_YET
    return End.FAILED if code else End.SUCCEEDED

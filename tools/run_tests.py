"""Run the tests or a part of them (`make test T=PATH`), those that need a cluster each by themselves.

The clusters' tests mostly wait, so they run beside the others, one cluster after another, with the processors first;
what they print is kept and comes after the output of the others. A few tests that failed in this crowd run once more
when nothing else does; which did, and how that ended, is said at the end.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Folders of tests/ that need a cluster: the second is a Slurm.
CLUSTERS = ("cluster", "slurm")
# With the kernel's help nothing of a run outlives us, also not after kill -9.
WITH_US = ["setpriv", "--pdeathsig", "KILL"]
BEHIND = ["nice", "-n", "10"]
POLL_SECONDS = 0.2
# Each with a Slurm of its own.
SLURMS = 4
# More than these have a common cause, which is no crowd.
MOST_AGAIN = 5
FAILED_TESTS = 1  # pytest's exit code for just that


class Part(NamedTuple):
    """One run of pytest: over what, and which cluster it needs (one of CLUSTERS, or none)."""

    paths: list[str]
    cluster: str = ""


def parts(wanted: list[str], folders: list[str]) -> list[Part]:
    """Split what is wanted (nothing: every folder of tests/) into runs, the ones that need a cluster last.

    wanted: paths as pytest takes them, then its options from the first word with a dash on;
    folders: names of the folders of tests/.
    """
    first_option = next((place for place, word in enumerate(wanted) if word.startswith("-")), len(wanted))
    paths, options = [path.rstrip("/") for path in wanted[:first_option]], wanted[first_option:]
    if paths in ([], ["tests"]):
        paths = [f"tests/{folder}" for folder in folders]
    runs = [Part([path for path in paths if cluster_of(path) == cluster], cluster) for cluster in ("", *CLUSTERS)]
    return [run._replace(paths=run.paths + options) for run in runs if run.paths]


def cluster_of(path: str) -> str:
    """Which of CLUSTERS a test path lies below; empty when below none."""
    folders = path.removeprefix("./").split("::")[0].split("/")[:2]
    return folders[1] if folders[0] == "tests" and folders[-1] in CLUSTERS and len(folders) == 2 else ""


def cache(part: Part) -> Path:
    """Where pytest notes which tests of the part have failed."""
    return ROOT / ".pytest_cache" / (part.cluster or "others")


def testbed(cluster: str) -> list[str]:
    """The words that call what starts a cluster."""
    return [sys.executable, "-m", f"tests.{cluster}.testbed"]


def command(part: Part, processors: int) -> list[str]:
    """The pytest command of one part. Tests share one Kubernetes cluster, so only the others run side by side.

    Those with real processes mostly wait: they come first, and there is one worker more than processors.
    """
    pytest = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache(part)}", *part.paths]
    if part.cluster == "cluster":
        return [*testbed(part.cluster), "run", "--", *pytest]
    several = any((ROOT / path).is_dir() for path in part.paths)
    workers = SLURMS if part.cluster else processors + 1
    side_by_side = ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    return [*pytest, *side_by_side] if several else pytest


def prepare(cluster: str) -> bool:
    """Install and build what a cluster needs; not so after a sentence about what is missing."""
    packages = subprocess.run([*testbed(cluster), "packages"], cwd=ROOT, check=True, capture_output=True, text=True)
    steps = [["sh", "tools/debian_packages.sh", *packages.stdout.split()]]
    if cluster == "cluster":
        steps.append([*testbed(cluster), "build"])
    return all(subprocess.run(step, cwd=ROOT, check=False).returncode == 0 for step in steps)


class Run:
    """One part under way, or to begin when another has ended.

    kept: a file that takes its output, which is shown when it is waited for. interrupts: once there is one, nothing
    begins any more.
    """

    def __init__(
        self,
        part: Part,
        *before: str,
        kept: BinaryIO | None = None,
        after: "Run | None" = None,
        interrupts: Sequence[int] = (),
    ) -> None:
        self._interrupts = interrupts
        self.part, self._before, self._kept, self._after, self._shown = part, before, kept, after, 0
        self._process: subprocess.Popen[bytes] | None = None
        self._began, self._seconds = 0.0, 0.0
        self._ended = False
        self.look()

    def look(self) -> bool:
        """Whether it has ended, and when; begins it when its time has come."""
        if self._process is None:
            if self._interrupts:
                self._ended = True
            elif self._after is None or self._after.look():
                self._begin()
        elif not self._ended and self._process.poll() is not None:
            self._ended, self._seconds = True, time.monotonic() - self._began
        return self._ended

    def _begin(self) -> None:
        _noted(self.part).unlink(missing_ok=True)
        words = [*WITH_US, *self._before, *command(self.part, os.cpu_count() or 1)]
        # Hundreds of processes start: where bytecode may not be kept, each would compile everything again.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        errors = subprocess.STDOUT if self._kept else None
        self._began = time.monotonic()
        self._process = subprocess.Popen(words, cwd=ROOT, env=env, stdout=self._kept, stderr=errors)

    def show(self) -> None:
        """Print what it has kept and was not shown yet."""
        if self._kept is not None:
            more = os.pread(self._kept.fileno(), os.fstat(self._kept.fileno()).st_size - self._shown, self._shown)
            self._shown += len(more)
            sys.stdout.buffer.write(more)
            sys.stdout.flush()

    def tell(self) -> None:
        """Say how it ended."""
        how = "passed" if self.passed else "FAILED"
        print(f"{how} in {self._seconds:.0f} s: {' '.join(self.part.paths)}\n", flush=True)

    @property
    def passed(self) -> bool:
        """A run that finds no test has not (pytest's 5)."""
        return self._process is not None and self._process.returncode == 0

    def failed(self) -> list[str]:
        """The tests that have failed, when that is all that went wrong."""
        if self._process is None or self._process.returncode != FAILED_TESTS or not _noted(self.part).exists():
            return []
        return sorted(json.loads(_noted(self.part).read_text()))


def _noted(part: Part) -> Path:
    return cache(part) / "v" / "cache" / "lastfailed"


def run_all(wanted: list[Part], prepared: Callable[[str], bool] = prepare) -> bool:
    """Run every part, also when another fails, and show one after the other; whether all passed."""
    possible = [part for part in wanted if not part.cluster or prepared(part.cluster)]
    with ExitStack() as open_files, interrupts_left_to_the_parts() as interrupts:
        runs: list[Run] = []
        on_cluster: Run | None = None
        for part in possible:
            if len(possible) < 2:
                runs.append(Run(part))
            elif part.cluster:
                kept = open_files.enter_context(tempfile.TemporaryFile())
                on_cluster = Run(part, kept=kept, after=on_cluster, interrupts=interrupts)
                runs.append(on_cluster)
            else:
                runs.append(Run(part, *BEHIND))
        for run in runs:
            wait(run, runs)
        well = [run.passed or (len(runs) > 1 and passes_alone(run, interrupts)) for run in runs]
    return all(well) and possible == wanted


def passes_alone(run: Run, interrupts: Sequence[int]) -> bool:
    """Whether the tests of a run that have failed beside others pass by themselves."""
    tests = run.failed()
    if not 0 < len(tests) <= MOST_AGAIN or interrupts:
        return False
    names = "\n  ".join(tests)
    print(f"Once more, alone:\n  {names}\n", flush=True)
    alone = Run(run.part._replace(paths=tests))
    wait(alone, [alone])
    if alone.passed:
        print(f"To be mended, since it passes only where nothing else runs:\n  {names}\n", flush=True)
    return alone.passed


def wait(run: Run, all_runs: list[Run]) -> None:
    """Until it ends, showing what it prints."""
    while not [other.look() for other in all_runs][all_runs.index(run)]:
        run.show()
        time.sleep(POLL_SECONDS)
    run.show()
    run.tell()


@contextmanager
def interrupts_left_to_the_parts() -> Iterator[list[int]]:
    """Ctrl-C reaches every process of the terminal: the parts end in their own order, and we wait for them."""
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: interrupts.append(number))
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def main(words: list[str]) -> int:
    """Run every part, also after one has failed; 1 if any failed."""
    folders = sorted({path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")})
    return 0 if run_all(parts(words, folders)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

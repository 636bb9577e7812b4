"""hedgerow sbatch speaks as sbatch does, on the real cluster."""

import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.slurm.sbatch_parts.submitting import HEDGEROW, Case
from tests.slurm.testbed.testbed import Testbed

SCRIPT = """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 -J "two words"  # a comment
#SBATCH --time=5
echo "$1 of $SLURM_JOB_NAME on $SLURM_JOB_NUM_NODES"
srun --label sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS; exit $((SLURM_PROCID * 3))'
code=$?
echo "code $code" >&2
exit $code
#SBATCH --nodes=9
"""
COMMANDS = {
    "it is submitted": ["job.sh", "one"],
    "its options count over those of the script": ["-N1", "--ntasks=1", "job.sh", "one"],
    "only the number is printed": ["--parsable", "job.sh", "one"],
    "it waits, and has the exit code": ["-W", "job.sh", "one"],
    "a command is wrapped": ["--wrap", "echo $SLURM_JOB_NAME; srun hostname; false", "-W"],
    "the script comes from standard input": ["-W", "-N1"],
    "an option is refused": ["--no-such-option", "job.sh"],
    "what no node has is refused": ["--nodes=9", "--time=1", "--partition=none", "job.sh"],
    "the script is not there": ["nothing.sh"],
    "the script is none": ["text"],
    "the script has lines of another system": ["dos.sh"],
    "a line of the script has an open quote": ["quote.sh"],
    "nothing is submitted": ["--test-only", "job.sh"],
    "switched off at the submission": ["environment.sh", "HEDGEROW=on"],
    "switched off in the script": ["environment.sh", "HEDGEROW=off"],
}
SWITCHED_OFF = "switched off at the submission"
FILES = {
    "text": "echo no first line\n",
    "dos.sh": "#!/bin/sh\r\necho\r\n",
    "quote.sh": "#!/bin/sh\n#SBATCH --comment='a\necho\n",
    "bad.yaml": "workers: 3\n",
    "environment.sh": """#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
export "$1"
srun --ntasks=2 sh -c 'env | grep -E "^(SLURM_NTASKS|SLURM_PROCID|PMI|HEDGEROW_ATTEMPT|RANK)" | sort'
""",
}
_OF_ONE_RUN = ("srun: error: n", "srun: launch/slurm", "sbatch: Job")


Result = tuple[int, str, str, str]


def ran(slurm: Testbed, name: str, command: Sequence[str], words: Sequence[str]) -> Result:
    """Exit code, what was printed, what was complained of, and the output of the batch job, without its number."""
    case = Case(slurm, name, SCRIPT)
    for file, text in FILES.items():
        (case.folder / file).write_text(text, newline="")
    done = subprocess.run(
        [*command, *words],
        cwd=case.folder,
        env={**slurm.environment, **case.environment},
        input="#!/bin/sh\necho from $SLURM_JOB_NAME\nexit 7\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    case.wait()
    return done.returncode, _plain(done.stdout), _plain(done.stderr), _plain(case.output)


def _plain(text: str) -> str:
    """Without numbers of jobs; the complaints of a run in which order they come."""
    lines = [line for line in text.splitlines() if not line.startswith(_OF_ONE_RUN)]
    return "\n".join(sorted("".join(letter for letter in line if not letter.isdigit()) for line in lines))


@pytest.fixture(scope="module")
def results(slurm: Testbed) -> Iterator[dict[str, tuple[Result, Result]]]:
    """Of hedgerow sbatch and of sbatch; several run side by side."""
    with ThreadPoolExecutor(6) as pool:
        ours, theirs = {}, {}
        for number, (sentence, words) in enumerate(COMMANDS.items()):
            off = ["env", "HEDGEROW=off"] if sentence in SWITCHED_OFF else []
            ours[sentence] = pool.submit(ran, slurm, f"command-{number}", [*off, HEDGEROW, "sbatch"], words)
            theirs[sentence] = pool.submit(ran, slurm, f"plain-{number}", ["sbatch"], words)
        yield {sentence: (ours[sentence].result(), theirs[sentence].result()) for sentence in COMMANDS}


@pytest.mark.parametrize("sentence", COMMANDS)
def test_like_sbatch(sentence: str, results: dict[str, tuple[Result, Result]]) -> None:
    ours, theirs = results[sentence]
    assert ours == theirs


def test_what_was_not_submitted_leaves_nothing(slurm: Testbed, results: dict[str, tuple[Result, Result]]) -> None:
    refused = list(COMMANDS).index("what no node has is refused")
    assert results["what no node has is refused"][0][0] == 1
    assert list((slurm.jobs / f"command-{refused}" / "state").iterdir()) == []


def test_a_bad_option_of_ours_is_one_sentence(slurm: Testbed) -> None:
    code, said, complaint, _ = ran(slurm, "bad", [HEDGEROW, "sbatch"], ["--job-spec=bad.yaml", "job.sh"])
    assert (code, said) == (2, "")
    assert complaint.startswith("hedgerow: --job-spec bad.yaml: workers is said by the script")

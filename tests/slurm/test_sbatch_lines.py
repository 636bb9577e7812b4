"""#SBATCH lines mean to the real sbatch what we read in them."""

import pytest

from hedgerow_operator.core.slurm.sbatch_lines import BadLine, flags_in
from hedgerow_operator.core.slurm.sbatch_options import value_of
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.testbed import Testbed

# Each line says the comment or the name of a job.
LINES = {
    "plain words": "#SBATCH --comment=abc -J xyz",
    "a comment after them": "#SBATCH --comment=abc # -J xyz",
    "a # within a word": "#SBATCH --comment=a#bc -J xyz",
    "single quotes": "#SBATCH --comment='a  b'  -J 'x \"y'",
    "double quotes": '#SBATCH --comment="a  b" -J "x \'y"',
    "quotes in the middle of a word": "#SBATCH --comment=a' b 'c -J x\"y z\"",
    "a # in quotes": "#SBATCH --comment='a # b' -J xyz",
    "a backslash before a blank": "#SBATCH --comment=a\\ -J xyz",
    "a backslash before a letter": "#SBATCH --comment=a\\bc -J xyz",
    "a backslash before a #": "#SBATCH --comment=a\\#b -J xyz",
    "a backslash before a quote": "#SBATCH --comment=a\\'b -J xyz",
    "an empty word": "#SBATCH '' --comment=abc",
    "a backslash in quotes": "#SBATCH --comment='a\\'b' -J xyz",
    "nothing between the word and the option": "#SBATCH-Jxyz",
    "blanks before the word": " #SBATCH --comment=abc",
    "another # before it": "##SBATCH --comment=abc",
    "tabs": "#SBATCH\t--comment=abc\t-J\txyz",
    "an option that is cut short": "#SBATCH --comme=abc --job-n=xyz",
    "after an empty line and a comment": "\n# why\n#SBATCH --comment=abc",
    "after a command": "true\n#SBATCH --comment=abc",
    "after a line with a blank only": " \n#SBATCH --comment=abc",
}


@pytest.mark.parametrize("sentence", LINES)
def test_means_the_same(sentence: str, slurm: Testbed) -> None:
    script = f"#!/bin/sh\n{LINES[sentence]}\ntrue\n"
    path = slurm.jobs / "lines.sh"
    path.write_text(script)
    job_id = slurm.run(["sbatch", "--hold", "--parsable", str(path)])
    seen = slurm.run(["squeue", "--noheader", f"--jobs={job_id}", "--format=%j|%k"])
    slurm.run(["scancel", job_id])
    flags = flags_in(script)
    read = f"{value_of(flags, 'job-name') or 'lines.sh'}|{value_of(flags, 'comment') or '(null)'}"
    assert read == seen


@pytest.mark.parametrize("line", ["#SBATCH --comment=abc word", "#SBATCH --comment='a", "#SBATCH --comment ''"])
def test_what_it_refuses_is_refused(line: str, slurm: Testbed) -> None:
    script = f"#!/bin/sh\n{line}\ntrue\n"
    path = slurm.jobs / "lines.sh"
    path.write_text(script)
    with pytest.raises(TestbedError):
        slurm.run(["sbatch", "--hold", str(path)])
    with pytest.raises(BadLine):
        flags_in(script)

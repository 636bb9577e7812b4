"""#SBATCH lines are read as sbatch reads them."""

import pytest

from hedgerow_operator.core.slurm.sbatch_lines import BadLine, flags_in, header_lines, is_heterogeneous

READ = {
    "one option a line": ("#!/bin/sh\n#SBATCH -N2\n#SBATCH --time=10\n", [("nodes", "2"), ("time", "10")]),
    "several options a line": ("#!/bin/sh\n#SBATCH -N 2 --time 10\n", [("nodes", "2"), ("time", "10")]),
    "they end at the first command": ("#!/bin/sh\n#SBATCH -N2\nhostname\n#SBATCH -n4\n", [("nodes", "2")]),
    "empty lines and comments are passed over": ("#!/bin/sh\n\n  # why\n#SBATCH -N2\n", [("nodes", "2")]),
    "a line that is commented out twice is a comment": ("#!/bin/sh\n##SBATCH -N2\n#SBATCH -n4\n", [("ntasks", "4")]),
    "what follows a # is a comment": ("#!/bin/sh\n#SBATCH -N2 # --time=10\n", [("nodes", "2")]),
    "quotes hold blanks together": ("#!/bin/sh\n#SBATCH --comment='a  b' -J \"c d\"\n",
                                    [("comment", "a  b"), ("job-name", "c d")]),
    "a # in quotes is no comment": ('#!/bin/sh\n#SBATCH --comment="a#b"\n', [("comment", "a#b")]),
    "a backslash takes no blank outside of quotes": ("#!/bin/sh\n#SBATCH -J a\\ -N2\n",
                                                     [("job-name", "a"), ("nodes", "2")]),
    "a backslash takes a quote as it is": ("#!/bin/sh\n#SBATCH -J a\\'b\n", [("job-name", "a'b")]),
    "an empty word ends the line": ("#!/bin/sh\n#SBATCH -N2 '' -n4\n", [("nodes", "2")]),
    "a line without an option says nothing": ("#!/bin/sh\n#SBATCH\n#SBATCH -N2\n", [("nodes", "2")]),
    "a script of one line": ("#!/bin/sh", []),
}  # fmt: skip


@pytest.mark.parametrize("sentence", READ)
def test_reads(sentence: str) -> None:
    script, flags = READ[sentence]
    assert [(flag.name, flag.value) for flag in flags_in(script)] == flags


def test_an_open_quote_is_refused_with_its_line() -> None:
    with pytest.raises(BadLine, match="line 2"):
        flags_in("#!/bin/sh\n#SBATCH --comment='a\n")


BAD = {"a word that is no option": "-N2 word", "an option without its value": "--comment ''"}


@pytest.mark.parametrize("sentence", BAD)
def test_is_refused_with_its_line(sentence: str) -> None:
    with pytest.raises(BadLine, match="line 2"):
        flags_in(f"#!/bin/sh\n#SBATCH {BAD[sentence]}\n")


def test_the_lines_are_kept_as_they_are() -> None:
    assert header_lines("#!/bin/sh\n#SBATCH -N2  # two\necho\n#SBATCH -n1") == ["#SBATCH -N2  # two"]


def test_a_job_of_several_components_is_told() -> None:
    assert is_heterogeneous("#!/bin/sh\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\n")
    assert not is_heterogeneous("#!/bin/sh\n#SBATCH -N1 --comment hetjob\n")

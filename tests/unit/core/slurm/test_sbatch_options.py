"""The command line of sbatch is read as sbatch reads it."""

import pytest

from hedgerow_operator.api.slurm_options import KNOWN
from hedgerow_operator.core.slurm.sbatch_options import KINDS, LETTERS, parse, value_of, without, words_of

READ = {
    "options end at the script": (
        ["-N", "2", "train.sh", "-N", "3"],
        [("nodes", "2")],
        "train.sh",
        ["-N", "3"],
    ),
    "a value may follow its letter": (["-N2", "-Jfoo", "a.sh"], [("nodes", "2"), ("job-name", "foo")], "a.sh", []),
    "a value may follow an equals sign": (["--time=1-00", "a.sh"], [("time", "1-00")], "a.sh", []),
    "a value may be a word of its own": (["--time", "10", "a.sh"], [("time", "10")], "a.sh", []),
    "letters without values share a word": (["-HWN2", "a"], [("hold", None), ("wait", None), ("nodes", "2")], "a", []),
    "an optional value is in the same word or nowhere": (["-k", "off"], [("no-kill", None)], "off", []),
    "an optional value of a long option follows an equals sign": (
        ["--exclusive", "user", "x"],
        [("exclusive", None)],
        "user",
        ["x"],
    ),
    "a long option may be cut short": (["--part", "gpu", "a.sh"], [("partition", "gpu")], "a.sh", []),
    "two dashes end the options": (["-N2", "--", "-odd.sh", "1"], [("nodes", "2")], "-odd.sh", ["1"]),
    "no script": (["--wrap", "srun hostname"], [("wrap", "srun hostname")], None, []),
    "an option that sbatch does not have is left for sbatch": (["--no-such=1", "a"], [("", "1")], "a", []),
    "a value that is missing is left for sbatch": (["--time"], [("time", None)], None, []),
    "a word that only begins like several options is none of them": (["--n=1", "a"], [("", "1")], "a", []),
}


@pytest.mark.parametrize("sentence", READ)
def test_reads(sentence: str) -> None:
    words, flags, script, arguments = READ[sentence]
    line = parse(words)
    assert [(flag.name, flag.value) for flag in line.flags] == flags
    assert (line.script, list(line.arguments)) == (script, arguments)


def test_the_last_of_several_counts() -> None:
    assert value_of(parse(["-N2", "--nodes=3", "a"]).flags, "nodes") == "3"


def test_what_was_read_can_be_written_again_without_some() -> None:
    flags = parse(["-HN2", "--time", "10", "-W", "a"]).flags
    assert words_of(without(flags, ("hold", "wait"))) == ["-N2", "--time", "10"]


def test_every_option_that_a_manifest_may_name_is_known() -> None:
    assert set(KNOWN) <= set(KINDS)
    assert set(LETTERS.values()) <= set(KINDS)

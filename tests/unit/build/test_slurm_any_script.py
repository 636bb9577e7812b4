"""Whatever the user's script holds, the nodes get it byte for byte."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from hedgerow_operator.build.slurm.submission import submission
from tests.unit.build.slurm_examples import PLACES, slurm_job

# What a shell would make something else of, were it not kept from it.
_PIECES = st.sampled_from(
    ["HEDGEROW_SCRIPT", "HEDGEROW_SCRIPT_", "EOF", "$HOME", "`id`", "$(id)", "\\", "'", '"', "%", "\r", "\t", " ", "\n",
     "#!/bin/sh", "a", "ü", "🦔", "\u2028", "\x7f", "\x01", "!", "~", "*"]
)  # fmt: skip
_SRUN = "#!/bin/sh\nexit 0\n"


@settings(max_examples=60)
@given(st.lists(_PIECES, min_size=1, max_size=30).map("".join))
@example("HEDGEROW_SCRIPT\nHEDGEROW_SCRIPT_\n")
@example("python train.py\\\n")
def test_the_script_arrives_as_it_was_written(script: str) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "srun").write_text(_SRUN)
        (Path(folder) / "srun").chmod(0o755)
        there = structs.replace(PLACES, directory=f"{folder}/placement")
        made = submission(slurm_job(script=script), 1, (), there).script
        done = subprocess.run(
            [bash], input=made.encode(), env={"PATH": f"{folder}:/bin"}, cwd=folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        arrived = (Path(folder) / "placement" / "script").read_bytes().decode()
    assert arrived == (script if script.endswith("\n") else script + "\n")

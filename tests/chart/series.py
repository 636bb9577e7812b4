"""Series as Prometheus scrapes them, and its own PromQL engine over them, built once from a pinned module."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.cluster.testbed import toolchain
from tests.cluster.testbed.commands import run
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.paths import cache
from tests.cluster.testbed.progress import step

MODULE = Path(__file__).parent / "promql"
STEP_SECONDS = 30
_LINE = re.compile(r"([a-z_]+(?:\{.*\})?) (\S+)")
# What Prometheus stores where a series is not in a scrape any more.
STALE = "stale"


def engine() -> Path:
    """The program that runs one script ($SERIES)."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(MODULE.iterdir()))).hexdigest()[:12]
    program = cache() / f"promql-{digest}"
    with exclusive(program.with_suffix(".lock")):
        if not program.exists():
            with step("building Prometheus' PromQL engine; the first time, about 4 minutes on two cores"):
                part = program.with_suffix(".part")
                build = ["nice", "-n", "10", str(toolchain.go()), "test", "-c", "-o", str(part), "."]
                run(build, cwd=MODULE, environment={"GOTOOLCHAIN": "local", "GOWORK": "off"})
                part.rename(program)
    return program


def load(scrapes: Iterable[str]) -> str:
    """The series of what was shown at each scrape, STEP_SECONDS apart."""
    found: dict[str, list[str]] = {}
    for count, text in enumerate(scrapes):
        for line in text.splitlines():
            sample = None if line.startswith("#") else _LINE.fullmatch(line)
            if sample:
                values = found.setdefault(sample[1], ["_"] * count)
                values.append(sample[2])
        for values in found.values():
            if len(values) <= count:
                values.append("_" if values[-1] in ("_", STALE) else STALE)
    return f"load {STEP_SECONDS}s\n" + "".join(f"  {name} {' '.join(values)}\n" for name, values in found.items())


def firing(folder: Path, scrapes: Iterable[str], expression: str, expected: Mapping[int, int]) -> None:
    """Raises unless the expression gives so many series (value) at each moment (key, in seconds)."""
    script = load(scrapes)
    for moment, number in expected.items():
        script += f"\neval instant at {moment}s count({expression}) or vector(0)\n  {{}} {number}\n"
    path = folder / "series.test"
    path.write_text(script)
    done = subprocess.run(
        [engine(), "-test.v"], env={**os.environ, "SERIES": str(path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

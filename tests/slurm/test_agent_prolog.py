"""The example of a prolog on a real Slurm: one agent a node, which outlives it; no node is drained for its sake."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.slurm_run import REPOSITORY
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.testbed.waiting import wait_for

PROLOG = REPOSITORY / "examples" / "slurm-agent" / "prolog.sh"
MARK = "HEDGEROW_AGENT_REPORT_URL"
NOBODY = "http://127.0.0.1:9"


class Site:
    """A cluster whose prolog is ours; settings: what it reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "hedgerow-agent.env"
        prolog = folder / "prolog"
        prolog.write_text(
            f"#!/bin/sh\nexport HEDGEROW_AGENT_SETTINGS={self.settings} HEDGEROW_AGENT_RUN={folder}\nexec {PROLOG}\n"
        )
        prolog.chmod(0o755)
        self.testbed = Testbed.start(Prolog=str(prolog))

    def run_job(self) -> None:
        """To its end, on n3."""
        self.testbed.run("srun --nodelist=n3 true")

    def agents(self) -> list[int]:
        """The agents that live."""
        found = []
        for pid in self.testbed.processes_of(**{MARK: NOBODY}):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            found += [pid] if any(Path(word.decode()).name == "hedgerow-agent" for word in words[:2]) else []
        return found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    yield found
    found.testbed.close()


def test_the_prolog_starts_one_agent_that_outlives_it(site: Site) -> None:
    gpus = site.folder / "gpus.json"
    gpus.write_text(json.dumps({"gpus": [{"profile": "a100", "count": 1}]}))
    programs = Path(sys.executable).parent
    site.settings.write_text(f"PATH={programs}:$PATH\n{MARK}={NOBODY}\nHEDGEROW_AGENT_DEVICES=fake:{gpus}\n")
    site.run_job()
    log = site.folder / "hedgerow-agent-n3.log"
    wait_for("the agent to report", lambda: log.exists() and "no report reaches the operator" in log.read_text())
    before = site.agents()
    site.run_job()
    assert len(before) == 1
    assert site.agents() == before
    assert (site.folder / "hedgerow-agent-n3.lock").exists()


@pytest.mark.parametrize("settings", [None, "this is no shell (\n", f"PATH=/nowhere:$PATH\n{MARK}={NOBODY}\n"])
def test_a_prolog_that_cannot_start_an_agent_drains_no_node(site: Site, settings: str | None) -> None:
    if settings is not None:
        site.settings.write_text(settings)
    site.run_job()
    site.run_job()

    def shown() -> str:
        return site.testbed.run("sinfo --noheader --nodes=n3 --format='%T %E'")

    wait_for("the job to be over on its node", lambda: not shown().startswith("completing"))
    assert shown() == "idle none"

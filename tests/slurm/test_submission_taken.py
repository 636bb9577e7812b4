"""What a placement asks for is what Slurm has of it, whichever driver submits it."""

import os
import re
from collections.abc import AsyncIterator

import pytest
from msgspec import structs

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.build.slurm.submission import submission
from tests.slurm.drivers import by_rest
from tests.slurm.testbed.testbed import Testbed
from tests.unit.build.slurm_examples import PLACES, UID, slurm_job

WANTED = {
    "JobName": "llama", "Requeue": "0", "TimeLimit": "00:05:00", "ExcNodeList": "n3", "NumTasks": "8",
    "Comment": f"hedgerow:{UID}:1", "WorkDir": "/tmp", "TresPerNode": "gres:gpu:2", "MinMemoryNode": "100M",
}  # fmt: skip


@pytest.fixture(params=["REST", "CLI"])
async def driver(request: pytest.FixtureRequest, fresh_slurm: Testbed) -> AsyncIterator[Driver]:
    commands = {**os.environ, **fresh_slurm.environment}
    made: Driver = by_rest(fresh_slurm) if request.param == "REST" else CliDriver(commands)
    yield made
    await made.close()


async def test_slurm_has_every_option_of_a_placement(driver: Driver, fresh_slurm: Testbed) -> None:
    options = {"chdir": "/tmp", "mem": "100M", "mail-type": "NONE", "cpus-per-task": "1"}
    job = slurm_job(gres="gpu:2", timeLimit="0-00:05:00", options=options)
    made = structs.replace(submission(job, 1, ("n3",), PLACES), script="#!/bin/bash\nsrun sleep 60\n")
    shown = fresh_slurm.run(["scontrol", "show", "job", await driver.submit(made)])
    has = dict(re.findall(r"(\S+?)=(\S*)", shown))
    assert {name: has.get(name) for name in WANTED} == WANTED
    assert has["NumNodes"].split("-")[0] == "2"
    assert has["NtasksPerN:B:S:C"].startswith("4:")

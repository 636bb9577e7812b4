"""How the command-line driver asks, by version and build of the installed Slurm, and what it makes of odd answers."""

import json
import re
from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm.cli import listing
from hedgerow_operator.core.slurm import records
from hedgerow_operator.core.slurm.job_text import SACCT_FIELDS, SQUEUE_FIELDS
from hedgerow_operator.core.slurm.node_text import SINFO_FIELDS
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.slurm.cli_programs import USER, Programs

OURS = {"job_id": 1, "job_state": ["RUNNING"], "comment": "hedgerow:u:1", "user_id": USER}
DOCUMENT = json.dumps({"jobs": [OURS, {**OURS, "job_id": 2, "user_id": USER + 1}], "errors": []})
NODES = json.dumps({"nodes": [{"name": "n1", "state": ["IDLE", "DRAIN"]}], "errors": []})
ROW = {"JobArrayID": "1", "Comment": "hedgerow:u:1", "State": "RUNNING"}
ROWS = records.FIELD_END.join(ROW.get(name, "") for name in SQUEUE_FIELDS) + records.RECORD_END
NODE_ROWS = records.FIELD_END.join(["n1", "idle+drain"] + [""] * (len(SINFO_FIELDS) - 2)) + records.RECORD_END


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


@pytest.mark.parametrize("version", ["slurm 21.08.5", "slurm-wlm 22.05.8", "slurm 24.05.5", "slurm 25.11.0-0rc1"])
async def test_since_21_08_jobs_are_asked_for_as_json_and_only_ours_are_told(programs: Programs, version: str) -> None:
    programs.says("squeue", text=DOCUMENT).version(version)
    jobs = await programs.driver().jobs()
    assert [(job.id, job.state, job.comment) for job in jobs] == [("1", "RUNNING", "hedgerow:u:1")]
    assert programs.calls() == [f"squeue --json --states=all --user={USER}"]


async def test_before_21_08_they_are_asked_for_as_text(programs: Programs) -> None:
    programs.says("squeue", text=ROWS).version("slurm 20.11.9")
    assert [(job.id, job.state, job.comment) for job in await programs.driver().jobs()] == [
        ("1", "RUNNING", "hedgerow:u:1")
    ]
    assert "--json" not in programs.calls()[0]


NO_JSON = {
    "a build without JSON": 'case "$*" in *--json*) echo "squeue: unrecognized option" >&2; exit 1;; esac',
    "one whose plugin is missing": 'case "$*" in *--json*) echo "fatal: no serializer/json" >&2; exit 1;; esac',
    "one that prints something else": 'case "$*" in *--json*) echo "{oops"; exit 0;; esac',
    "a cluster with too many jobs": 'case "$*" in *--json*) yes | head -c 9000000; exit 0;; esac',
}


@pytest.mark.parametrize("script", NO_JSON.values(), ids=NO_JSON)
async def test_where_json_fails_text_is_taken_and_json_not_asked_for_again(programs: Programs, script: str) -> None:
    programs.says("squeue", text=ROWS, script=script).version("slurm 24.05.5")
    driver = programs.driver()
    for _ in range(2):
        assert [job.id for job in await driver.jobs()] == ["1"]
    assert ["--json" in call for call in programs.calls()] == [True, False, False]


NO_KNOWLEDGE = {
    "an empty list with a complaint and exit code 0 (22.05, controller away)": (
        json.dumps({"jobs": [], "errors": [{"error_number": -1, "error": "Unspecified error"}]}), "", 0,
        "squeue could not ask the controller: Unspecified error",
    ),
    "a document without a list": ("{}", "", 0, "squeue could not ask the controller: it lists no jobs"),
    "the controller is away": (
        "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", 1,
        "squeue: Unable to contact slurm controller (connect failure)",
    ),
    "munged is away": ("", "squeue: error: Munge encode failed: Failed to connect\n", 1, "squeue: Munge encode failed"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "errors", "code", "sentence"), NO_KNOWLEDGE.values(), ids=NO_KNOWLEDGE)
async def test_what_says_nothing_of_the_jobs_is_never_taken_for_no_jobs(
    programs: Programs, text: str, errors: str, code: int, sentence: str
) -> None:
    programs.says("squeue", text=text, errors=errors, code=code).version("slurm 22.05.8")
    with pytest.raises(Unreachable, match=re.escape(sentence)):
        await programs.driver().jobs()
    assert len(programs.calls()) == 1


async def test_text_that_fails_is_no_knowledge_either(programs: Programs) -> None:
    programs.says("squeue", errors="squeue: error: something new\n", code=1).version("slurm 20.11.9")
    with pytest.raises(Unreachable, match="squeue: something new"):
        await programs.driver().jobs()


@pytest.mark.parametrize(
    ("version", "call"),
    [("slurm 22.05.8", "sinfo --json"), ("slurm 23.02.0", "scontrol show nodes --json")],
)
async def test_nodes_are_asked_for_by_what_lists_each_of_them(programs: Programs, version: str, call: str) -> None:
    programs.says("sinfo", text=NODES).says("scontrol", text=NODES).version(version)
    assert [(node.name, set(node.flags)) for node in await programs.driver().nodes()] == [("n1", {"DRAIN"})]
    assert programs.calls() == [call]


async def test_nodes_are_asked_for_as_text_before_21_08(programs: Programs) -> None:
    programs.says("sinfo", text=NODE_ROWS).version("slurm 20.11.9")
    assert [(node.name, set(node.flags)) for node in await programs.driver().nodes()] == [("n1", {"DRAIN"})]


def accounted(state: str, code: str) -> str:
    """One line of sacct."""
    row = {"JobID": "7", "Comment": "hedgerow:u:1", "State": state, "ExitCode": code}
    return records.FIELD_END.join(row.get(name, "") for name in SACCT_FIELDS) + "\n"


async def test_a_job_that_the_controller_has_forgotten_is_asked_for_in_accounting(programs: Programs) -> None:
    programs.says("squeue", text=DOCUMENT).version("slurm 24.05.5")
    programs.says("sacct", text=accounted("CANCELLED by 123", "0:15"))
    job = await programs.driver().job("7")
    assert job is not None
    assert (job.id, job.state, job.exit_status, job.comment) == ("7", "CANCELLED", 15, "hedgerow:u:1")


NOT_KNOWN = {
    "accounting is off": ("Slurm accounting storage is disabled\n", 1),
    "it does not know the job": ("", 0),
}
NOT_TOLD = {
    "slurmdbd is away": ("sacct: error: slurm_persist_conn_open: failed to open persistent connection\n", 1),
    "something new": ("sacct: error: oops\n", 1),
}


@pytest.mark.parametrize(("errors", "code"), NOT_KNOWN.values(), ids=NOT_KNOWN)
async def test_nobody_knows_the_job(programs: Programs, errors: str, code: int) -> None:
    programs.says("squeue", text=DOCUMENT).version("slurm 24.05.5")
    programs.says("sacct", errors=errors, code=code)
    assert await programs.driver().job("7") is None


@pytest.mark.parametrize(("errors", "code"), NOT_TOLD.values(), ids=NOT_TOLD)
async def test_accounting_that_does_not_answer_is_no_answer(programs: Programs, errors: str, code: int) -> None:
    programs.says("squeue", text=DOCUMENT).version("slurm 24.05.5")
    programs.says("sacct", errors=errors, code=code)
    with pytest.raises(Unreachable, match="sacct"):
        await programs.driver().job("7")


async def test_a_version_that_cannot_be_read_is_told(programs: Programs) -> None:
    programs.says("squeue", text="what?\n")
    with pytest.raises(Unreachable, match=re.escape("squeue --version: what?")):
        await programs.driver().version()


def test_the_bound_on_json_is_that_of_a_crowded_cluster() -> None:
    assert listing._MOST_JSON < 9_000_000

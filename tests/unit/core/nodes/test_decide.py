"""What a GPUNode says of its node: sick only by what was measured, and nothing where nothing was."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow.wire_agent import ACTION_INSPECT, GPU_LOST, NOT_MEASURED, AgentReport, Finding
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.gpu_node import GPUNodeStatus
from hedgerow_operator.core.nodes.decide import RESYNC_SECONDS, decide
from hedgerow_operator.core.nodes.seen import NodeSeen, many_silent
from tests.unit.core.nodes.builders import LOST, NOW, REMAP, RULES, after, gpu, report, told

NEW = GPUNodeStatus()
HEALTHY = after(NEW, report())
BLIND = Finding("driver", NOT_MEASURED, "DriverMissing", ACTION_INSPECT, "no driver is loaded")

# name: (what the agent says, state, Healthy, Degraded, Quarantined)
SAID: dict[str, tuple[AgentReport, str, str, str, str]] = {
    "all is well": (report(), "Healthy", "True", "False", "False"),
    "a row waits to be remapped": (report(REMAP), "Degraded", "False", "True", "False"),
    "a GPU is lost": (report(LOST), "Quarantined", "False", "False", "True"),
    "one is lost, another waits": (report(REMAP, LOST), "Quarantined", "False", "True", "True"),
    "no driver": (report(BLIND, gpus=0), "NotMeasured", "Unknown", "Unknown", "False"),
}


@pytest.mark.parametrize(("heard", "state", "healthy", "degraded", "quarantined"), SAID.values(), ids=SAID)
def test_the_conditions_are_what_the_agent_found(
    heard: AgentReport, state: str, healthy: str, degraded: str, quarantined: str
) -> None:
    status = after(NEW, heard)
    assert status.state == state
    assert told(status, "Healthy")[0] == healthy
    assert told(status, "Degraded")[0] == degraded
    assert told(status, "Quarantined")[0] == quarantined
    assert told(status, "Unreachable") == ("False", "AgentHeard")


def test_each_gpu_has_a_line_that_says_which_it_is_and_what_it_has() -> None:
    status = after(NEW, report(LOST))
    sick = status.gpus[3]
    assert (sick.index, sick.uuid, sick.pci, sick.health, sick.reason) == (
        3,
        "GPU-3",
        "0000:03:00.0",
        "Failed",
        "Xid79",
    )
    assert {entry.health for entry in status.gpus if entry.index != 3} == {"Healthy"}
    assert status.gpus_healthy == "7/8"


def test_a_gpu_that_is_not_listed_any_more_is_missed_in_the_count() -> None:
    assert after(NEW, _with_seven()).gpus_healthy == "7/8"


def test_a_lost_gpu_is_failed_without_any_finding() -> None:
    heard = dataclasses.replace(report(), gpus=[gpu(0, state=GPU_LOST)])
    assert (after(NEW, heard).gpus[0].health, after(NEW, heard).gpus[0].reason) == ("Failed", "GPULost")


def test_the_reason_to_drain_names_the_gpu_and_what_it_asks_for() -> None:
    assert after(NEW, report(LOST)).drain_reason == "Xid79 on GPU 3 asks for a reboot of the node"
    assert after(NEW, report(REMAP)).drain_reason == "RowRemapPending on GPU 2 asks for a reset of the GPU"
    assert after(NEW, report()).drain_reason is None


def test_the_same_again_is_no_news_whatever_numbers_are_in_its_words() -> None:
    first = after(NEW, report(LOST))
    again = dataclasses.replace(LOST, message="Xid 79 (GPU has fallen off the bus), 17 times", age=50.0)
    assert after(first, report(again), now=NOW + 60) == first


def test_the_same_fault_of_another_gpu_is_news() -> None:
    first = after(NEW, report(LOST))
    other = after(first, report(dataclasses.replace(LOST, gpu=4)), now=NOW + 60)
    condition = find_condition(other.conditions, "Healthy")
    assert condition is not None
    assert condition.message.startswith("GPU 4")
    assert other.quarantine is not None
    assert other.quarantine.gpus == (4,)


def test_an_agent_that_is_silent_alone_makes_its_node_unreachable_and_says_nothing_of_its_gpus() -> None:
    status = after(HEALTHY, report(), age=31.0)
    assert status.state == "Unreachable"
    assert told(status, "Unreachable") == ("True", "AgentSilent")
    assert told(status, "Healthy") == ("Unknown", "NotMeasured")
    assert told(status, "Quarantined")[0] == "False"
    assert {entry.health for entry in status.gpus} == {"NotMeasured"}


def test_agents_that_are_silent_together_are_not_measured_and_not_unreachable() -> None:
    status = after(HEALTHY, report(), age=31.0, others="5 of 9")
    assert status.state == "NotMeasured"
    assert told(status, "Unreachable") == ("Unknown", "AgentsSilent")
    assert told(status, "Healthy") == ("Unknown", "NotMeasured")


def test_a_node_that_was_silent_before_the_others_stays_unreachable() -> None:
    alone = after(HEALTHY, report(), age=31.0)
    assert after(alone, report(), age=60.0, others="5 of 9", now=NOW + 30) == alone


def test_an_operator_that_has_just_begun_to_listen_concludes_nothing() -> None:
    assert after(HEALTHY, None, listening=29.0) == HEALTHY


def test_a_node_that_is_heard_again_is_what_it_says() -> None:
    silent = after(HEALTHY, report(), age=31.0)
    assert after(silent, report(), now=NOW + 60).state == "Healthy"


def test_silence_is_looked_for_when_it_could_begin() -> None:
    seen = NodeSeen(report=report(), age=20.0, listening_seconds=1000.0)
    assert decide(HEALTHY, seen, RULES, NOW).look_again == 10.0
    seen = NodeSeen(report=report(), age=0.0, listening_seconds=1000.0)
    assert decide(HEALTHY, seen, RULES, NOW).look_again == RESYNC_SECONDS


def test_words_of_a_newer_agent_say_neither_healthy_nor_sick() -> None:
    strange = Finding("new", "Uneasy", "NewReason", "Sing", "something new", 1)
    status = after(NEW, dataclasses.replace(report(), findings=[strange], health="Uneasy"))
    assert status.state == "NotMeasured"
    assert status.gpus[1].health == "NotMeasured"


@pytest.mark.parametrize(
    ("ages", "want"),
    [
        ([1.0, 2.0, 40.0], ""),
        ([1.0, 40.0], "1 of 2"),
        ([10.0, 31.0, 27.0], "2 of 3"),
        ([10.0, 31.0, 14.0], ""),
        ([1.0, 2.0, 40.0, None], "2 of 4"),
        ([40.0], "1 of 1"),
        ([], ""),
        ([1.0], ""),
    ],
)
def test_half_of_the_agents_silent_is_nobodys_fault_but_ours(ages: list[float | None], want: str) -> None:
    assert many_silent(ages, 30.0) == want


def _with_seven() -> AgentReport:
    heard = report()
    return dataclasses.replace(heard, gpus=heard.gpus[:7])

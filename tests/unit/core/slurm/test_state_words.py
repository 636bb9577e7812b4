"""Every form in which Slurm writes a state is read as base state and flags."""

from collections.abc import Sequence

import pytest

from hedgerow_operator.core.slurm.state_words import has_ended, job_state, node_state

JOBS = {
    "a word": ("RUNNING", "RUNNING", ()),
    "small letters": ("running", "RUNNING", ()),
    "a code": ("PD", "PENDING", ()),
    "a code for a held job (s07)": ("RH", "PENDING", ("REQUEUE_HOLD",)),
    "a held job in full (s07)": ("REQUEUE_HOLD", "PENDING", ("REQUEUE_HOLD",)),
    "accounting says who cancelled it (s09)": ("CANCELLED by 123", "CANCELLED", ()),
    "a list": (["RUNNING"], "RUNNING", ()),
    "a list with a flag": (["CANCELLED", "COMPLETING"], "CANCELLED", ("COMPLETING",)),
    "flags before the state": (["COMPLETING", "FAILED"], "FAILED", ("COMPLETING",)),
    "with plus": ("RUNNING+COMPLETING", "RUNNING", ("COMPLETING",)),
    "a flag that hides the state": ("COMPLETING", "COMPLETING", ("COMPLETING",)),
    "a flag that lies over one state only": ("CONFIGURING", "RUNNING", ("CONFIGURING",)),
    "a launch that failed": (["PENDING", "LAUNCH_FAILED"], "PENDING", ("LAUNCH_FAILED",)),
    "a word of a later release": ("FROBNICATING", "FROBNICATING", ()),
    "nothing": ("", "UNKNOWN", ()),
    "an empty list": ([], "UNKNOWN", ()),
}
NODES = {
    "a word": ("idle", [], "IDLE", ()),
    "a flag beside it": ("idle", ["DRAIN"], "IDLE", ("DRAIN",)),
    "a list": (["IDLE", "DRAIN"], [], "IDLE", ("DRAIN",)),
    "with plus": ("IDLE+DRAIN", [], "IDLE", ("DRAIN",)),
    "a suffix is a flag (s21)": ("down*", [], "DOWN", ("NOT_RESPONDING",)),
    "switched off (s21)": ("idle~", [], "IDLE", ("POWERED_DOWN",)),
    "being switched on (s21)": ("idle#", [], "IDLE", ("POWERING_UP",)),
    "being switched off (s21)": ("idle%", [], "IDLE", ("POWERING_DOWN",)),
    "to be switched off (s21)": ("idle!", [], "IDLE", ("POWER_DOWN",)),
    "to be rebooted (s21)": ("mix@", [], "MIXED", ("REBOOT_REQUESTED",)),
    "rebooting (s21)": ("down^", [], "DOWN", ("REBOOT_ISSUED",)),
    "in maintenance (s21)": ("idle$", [], "IDLE", ("MAINTENANCE",)),
    "planned (s21)": ("idle-", [], "IDLE", ("PLANNED",)),
    "a suffix within": ("IDLE*+DRAIN", [], "IDLE", ("DRAIN", "NOT_RESPONDING")),
    "a suffix at the end": ("IDLE+DRAIN*", [], "IDLE", ("DRAIN", "NOT_RESPONDING")),
    "drained": ("drained", [], "IDLE", ("DRAIN",)),
    "draining": ("drng*", [], "ALLOCATED", ("DRAIN", "NOT_RESPONDING")),
    "down and drained": ("down+drain", [], "DOWN", ("DRAIN",)),
    "short": ("alloc", [], "ALLOCATED", ()),
    "a flag that hides the state": ("completing", [], "COMPLETING", ("COMPLETING",)),
    "a word of a later release": ("blocked", [], "BLOCKED", ("BLOCKED",)),
    "nothing": ("", [], "UNKNOWN", ()),
}


@pytest.mark.parametrize(("shown", "state", "flags"), JOBS.values(), ids=JOBS)
def test_the_state_of_a_job(shown: str | list[str], state: str, flags: Sequence[str]) -> None:
    assert job_state(shown) == (state, frozenset(flags))


@pytest.mark.parametrize(("shown", "beside", "state", "flags"), NODES.values(), ids=NODES)
def test_the_state_of_a_node(shown: str | list[str], beside: list[str], state: str, flags: Sequence[str]) -> None:
    assert node_state(shown, beside) == (state, frozenset(flags))


@pytest.mark.parametrize(
    ("state", "ended"), [("PENDING", False), ("RUNNING", False), ("SUSPENDED", False), ("FAILED", True)]
)
def test_three_states_are_before_the_end(state: str, ended: bool) -> None:
    assert has_ended(state) is ended

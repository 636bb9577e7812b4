"""Every reason, label and annotation follows the conventions of Kubernetes, and generated names fit."""

from __future__ import annotations

import re

from hedgerow_operator.api import conditions, labels, reasons
from hedgerow_operator.api.spec import MAX_WORKERS

REASONS = {name: value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}


def test_reasons_are_camel_case_and_named_after_their_constants() -> None:
    for name, value in REASONS.items():
        assert re.fullmatch("([A-Z][a-z]+)+", value), value
        assert value.lower() == name.replace("_", "").lower()


def test_no_reason_has_two_names() -> None:
    assert len(set(REASONS.values())) == len(REASONS)


def test_condition_types_are_those_of_the_design() -> None:
    assert conditions.TYPES == ("Running", "Stalled", "Degraded", "Succeeded", "Failed", "Suspended")


def test_our_keys_carry_our_group_and_never_that_of_kubernetes() -> None:
    ours = labels.placement_labels("a", "u", 1).keys() | {labels.ANNOTATION_LEARNED_DURATIONS}
    assert all(key.startswith("hedgerow.dev/") for key in ours - {labels.LABEL_MANAGED_BY})


def test_the_host_name_of_the_longest_job_fits_a_dns_label() -> None:
    longest = "x" * labels.MAX_JOB_NAME_LENGTH
    host_name = f"{labels.placement_name(longest, 99_999)}-{MAX_WORKERS - 1}"
    assert len(host_name) + len("-abcde") <= 63

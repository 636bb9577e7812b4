"""Whole logs of runs, failed and healthy: the failed ones are explained, and nothing is read into the others."""

from pathlib import Path

import pytest

from hedgerow_operator.adapters.dumps.log_file import read_log
from hedgerow_operator.core.attribution.log.explanation import explain

FAILED = {
    "bloom_2022-03-21_gpu_crash.log": ("Hardware", "Exception", 2),
    "v50_dell_64gpu_sd_run9_usercode_valueerror_allranks.txt": ("Application", "Exception", 792),
    "v51_dell_8gpu_llama2_run0_cancelled_sigterm.txt": ("Scheduler", "Exit", 986),
}

pytestmark = pytest.mark.shared_data


@pytest.mark.parametrize(
    ("name", "fault_class", "kind", "line"), [(name, *told) for name, told in FAILED.items()], ids=FAILED
)
def test_a_failed_run_is_explained_and_no_rank_is_accused(
    name: str, fault_class: str, kind: str, line: int, shared_data: Path
) -> None:
    explanation = explain(read_log(shared_data / "training_logs" / name)[0])

    assert explanation.fault_class == fault_class
    assert explanation.first_failure is not None
    assert (explanation.first_failure.kind, explanation.first_failure.line) == (kind, line)
    assert explanation.suspects == ()


def test_nothing_is_read_into_runs_that_did_not_fail(shared_data: Path) -> None:
    logs = [*(shared_data / "training_logs").glob("*.txt"), *(shared_data / "training_logs").glob("*.log")]
    explained = {log.name: explain(read_log(log)[0]).events for log in logs if log.name not in FAILED}

    assert len(explained) >= 15
    assert {name for name, events in explained.items() if events} == set()

"""From scrape to scrape of a dcgm-exporter: Xids that stay shown, values that freeze, GPUs that go, MIG."""

from __future__ import annotations

from hedgerow.wire_agent import (
    ACTION_REBOOT,
    DEGRADED,
    FAILED,
    GPU_LOST,
    GPU_PRESENT,
    GPU_SILENT,
    HEALTHY,
    NOT_MEASURED,
    AgentReport,
)
from hedgerow_operator.core.nodes.findings import fatal
from tests.unit.core.nodes.exporter_text import Scrapes, first, line, text

XID = "DCGM_FI_DEV_XID_ERRORS"


def xid(code: str, gpu: int = 0) -> dict[int, dict[str, str]]:
    return {gpu: {XID: code}}


def told(report: AgentReport) -> list[tuple[int | None, str, str]]:
    return [(one.gpu, one.health, one.reason) for one in report.findings]


def test_t05_no_series_of_xids_is_neither_an_outage_nor_a_fault() -> None:
    for shown in ("", "0", "9223372036854775794"):
        report = Scrapes().take(text(2, changes=xid(shown)))
        assert (report.health, report.findings, report.events) == (HEALTHY, [], [])


def test_t06_with_mig_there_is_no_utilisation_of_the_gpu_but_activity_of_its_instances() -> None:
    def of(instance: str, active: str) -> str:
        where = {"GPU_I_PROFILE": "3g.40gb", "GPU_I_ID": instance}
        return line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", active, **where) + line("DCGM_FI_DEV_GPU_TEMP", "38", **where)

    gpu = first(Scrapes().take(of("2", "0.8") + of("1", "N/A")))
    assert "utilisation_percent" not in gpu.values
    assert gpu.values == {"temperature_celsius": 38.0, "mig_enabled": 1.0}
    assert [(one.index, one.gpu_instance, one.values) for one in gpu.instances] == [
        (0, 1, {}), (1, 2, {"graphics_activity_percent": 80.0})]  # fmt: skip


def test_t12_values_that_freeze_expire() -> None:
    scrapes = Scrapes()
    scrapes.take(text(2))
    for seconds in range(4, 128, 4):
        # GPU 1 is measured, GPU 0 is not.
        energy = {0: {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "1000000"}}
        report = scrapes.take(text(2, at=seconds, changes=energy))
    assert [(gpu.state, gpu.health, bool(gpu.values)) for gpu in report.gpus] == [
        (GPU_SILENT, NOT_MEASURED, False), (GPU_PRESENT, HEALTHY, True)]  # fmt: skip
    assert told(report) == [(0, NOT_MEASURED, "GPUSilent")]
    assert first(scrapes.take(text(2, at=500))).values["power_watts"] == 67.03


def test_the_age_of_values_is_since_they_last_changed_and_not_since_they_were_served() -> None:
    scrapes = Scrapes()
    # Nobody knows when the exporter measured what it served first.
    ages = [first(scrapes.take(text(1, at=at))).age for at in (0, 30, 30, 30, 60)]
    assert ages == [30.0, 4.0, 8.0, 12.0, 4.0]


def test_a_fatal_xid_is_a_fault_of_its_gpu_and_says_what_it_asks_for() -> None:
    report = Scrapes().take(text(8, changes=xid("79", gpu=3)))
    assert report.health == FAILED
    (finding,) = fatal(report)
    assert (finding.gpu, finding.reason, finding.action) == (3, "Xid79", ACTION_REBOOT)
    assert finding.message == "Xid 79 (GPU has fallen off the bus) at 0000:03:00.0"
    assert [gpu.health for gpu in report.gpus].count(HEALTHY) == 7


def test_an_xid_of_a_program_says_nothing_against_the_gpu() -> None:
    report = Scrapes().take(text(1, changes=xid("31")))
    assert (report.health, report.findings, [one.code for one in report.events]) == (HEALTHY, [], [31])


def test_an_xid_that_stays_shown_is_one_event_and_ends_after_an_hour() -> None:
    scrapes = Scrapes()
    scrapes.take(text(1))
    report = scrapes.take(text(1, at=4, changes=xid("79")))
    for at in range(8, 3600, 30):
        report = scrapes.take(text(1, at=at, changes=xid("79")), after=30.0)
    assert [(one.code, one.count) for one in report.events] == [(79, 1)]
    assert report.health == FAILED
    report = scrapes.take(text(1, at=3700, changes=xid("79")), after=100.0)
    assert (report.health, report.events[0].age > 3600) == (HEALTHY, True)


def test_an_xid_is_not_taken_back_by_a_later_one_or_by_an_exporter_that_leaves_it_out() -> None:
    scrapes = Scrapes()
    scrapes.take(text(1, changes=xid("79")))
    for at, code in enumerate(("31", "", "0"), start=1):
        assert told(scrapes.take(text(1, at=at, changes=xid(code)))) == [(0, FAILED, "Xid79")]


def test_an_xid_is_over_once_the_driver_was_loaded_anew() -> None:
    scrapes = Scrapes()
    scrapes.take(text(1, at=900, changes=xid("79")))
    report = scrapes.take(text(1, at=0))
    assert (report.health, [one.recovered for one in report.events]) == (HEALTHY, [True])
    assert scrapes.take(text(1, at=4, changes=xid("79"))).health == FAILED


def test_an_xid_that_was_known_before_this_operator_began_is_no_news() -> None:
    for since, health in ((-100.0, FAILED), (-4000.0, HEALTHY)):
        scrapes = Scrapes()
        scrapes.node.recall({0: (79, scrapes.now + since)})
        report = scrapes.take(text(1, changes=xid("79")))
        assert (report.health, report.events[0].first_age) == (health, 4.0 - since)
    assert scrapes.take(text(1, at=4, changes=xid("48"))).health == FAILED


def test_where_the_exporter_counts_xids_each_one_counts() -> None:
    def counted(count: str) -> str:
        return line("DCGM_EXP_XID_ERRORS_COUNT", count, xid="94", window_size_in_ms="300000")

    scrapes = Scrapes()
    scrapes.take(text(1))
    for at, shown in enumerate(("1", "1", "2", "1", "0", "1"), start=1):
        report = scrapes.take(text(1, at=at) + counted(shown))
    # One more while one is shown, and one after the window had emptied; that the window moves on is none.
    assert [(one.code, one.count) for one in report.events] == [(94, 3)]


def test_t08_a_gpu_that_is_told_of_no_more_is_lost_but_not_at_once() -> None:
    scrapes = Scrapes()
    scrapes.take(text(8), after=4)
    states = []
    for at in range(4, 48, 4):
        report = scrapes.take(text(8, at=at, without=(5,)))
        states.append(report.gpus[5].state)
    assert states[:2] == [GPU_SILENT, GPU_SILENT]
    assert states[-1] == GPU_LOST
    assert (told(report), report.gpus[5].values) == ([(5, FAILED, "GPULost")], {})
    assert scrapes.take(text(8, at=99)).health == HEALTHY


def test_another_exporter_that_tells_of_fewer_gpus_has_lost_none() -> None:
    scrapes = Scrapes()
    scrapes.take(text(8))
    scrapes.process = "exporter-2"
    for at in range(4, 80, 4):
        report = scrapes.take(text(8, at=at, without=(5,)))
    assert (len(report.gpus), report.health) == (7, HEALTHY)


def test_counters_that_rise_and_rows_that_wait_are_judged_as_by_our_agent() -> None:
    scrapes = Scrapes()
    replays, rows = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_ROW_REMAP_PENDING"
    scrapes.take(text(2, changes={0: {replays: "5000"}}))
    report = scrapes.take(text(2, at=4, changes={0: {replays: "5200"}, 1: {rows: "1"}}))
    assert told(report) == [(0, DEGRADED, "PCIeReplays"), (1, DEGRADED, "RowRemapPending")]
    report = scrapes.take(text(2, at=8, changes={1: {"DCGM_FI_DEV_ROW_REMAP_FAILURE": "1"}}))
    assert told(report) == [(1, FAILED, "RowRemapFailed")]


def test_a_gpu_of_which_every_value_is_blank_is_not_measured() -> None:
    report = Scrapes().take(text(1) + line("DCGM_FI_DEV_GPU_TEMP", "N/A", gpu=1))
    assert [(gpu.health, gpu.values == {}) for gpu in report.gpus] == [(HEALTHY, False), (NOT_MEASURED, True)]


def test_the_driver_is_named_and_its_version_is_told() -> None:
    driver = Scrapes().take(text(1)).driver
    assert (driver.source, driver.version) == ("dcgm-exporter", "550.54.15")


def test_reports_are_newer_and_newer_also_when_all_that_was_remembered_is_lost() -> None:
    first_one, later = Scrapes(), Scrapes()
    numbers = [first_one.take(text(1, at=at)).seq for at in range(3)]
    later.now = first_one.now
    numbers.append(later.take(text(1)).seq)
    assert numbers == sorted(set(numbers))

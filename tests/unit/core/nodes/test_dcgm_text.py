"""The text of a dcgm-exporter is read: what is blank is absent, what makes no sense is counted, the rest goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.wire_agent import GpuContainer
from hedgerow_operator.core.nodes.dcgm.fields import number
from hedgerow_operator.core.nodes.dcgm.text import MAX_GPUS, UNREADABLE, Unreadable, read
from tests.unit.core.nodes.exporter_text import Scrapes, first, line, text


def test_every_counter_of_the_default_file_becomes_the_value_that_our_agent_would_report() -> None:
    gpu = first(Scrapes().take(text(1)))
    assert (gpu.index, gpu.uuid, gpu.pci, gpu.name) == (0, "GPU-0", "0000:00:00.0", "NVIDIA A100-SXM4-80GB")
    assert gpu.values == {
        "sm_clock_hertz": 1.41e9,
        "memory_clock_hertz": 1.593e9,
        "memory_temperature_celsius": 41.0,
        "temperature_celsius": 38.0,
        "power_watts": 67.03,
        "pcie_replays": 0.0,
        "utilisation_percent": 98.0,
        "memory_utilisation_percent": 31.0,
        "memory_used_bytes": 11000 * 2.0**20,
        "remapped_rows_uncorrectable": 0.0,
        "remapped_rows_correctable": 0.0,
        "remap_failed": 0.0,
    }


# metric: (what the exporter says, our value, what it is)
ADDED = {
    "DCGM_FI_PROF_SM_ACTIVE": ("0.42", "sm_activity_percent", 42.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("0.9", "tensor_activity_percent", 90.0),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": ("5e9", "nvlink_transmitted_bytes_per_second", 5e9),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("3", "ecc_volatile_uncorrectable_errors", 3.0),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": ("1", "remap_pending", 1.0),
    "DCGM_FI_DEV_RETIRED_PENDING": ("4", "retired_pages_pending", 1.0),
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": ("7", "nvlink_crc_errors", 7.0),
    "DCGM_FI_DEV_FB_RESERVED": ("920", "memory_total_bytes", (70000 + 11000 + 920) * 2.0**20),
    "DCGM_FI_DEV_PCIE_LINK_WIDTH": ("16", "pcie_link_width", 16.0),
}


@pytest.mark.parametrize(("metric", "value", "name", "want"), [(one, *ADDED[one]) for one in ADDED], ids=ADDED)
def test_a_counter_that_was_added_is_read(metric: str, value: str, name: str, want: float) -> None:
    assert first(Scrapes().take(text(1, changes={0: {metric: value}}))).values[name] == pytest.approx(want)


BLANK = [
    "9223372036854775794", "9223372036854775792", "9.223372036854775794e+18", "2147483632", "2147483634",
    "140737488355328", "140737488355330.000000", "NaN", "N/A", "", "-",
]  # fmt: skip


@pytest.mark.parametrize("word", BLANK)
def test_what_dcgm_calls_blank_is_absent_and_never_0(word: str) -> None:
    assert number(word) is None
    served = text(1, changes={0: {"DCGM_FI_DEV_GPU_TEMP": word or " "}})
    report = Scrapes().take(served)
    assert "temperature_celsius" not in first(report).values
    assert "power_watts" in first(report).values


def test_a_board_without_a_sensor_in_its_memory_says_0_which_is_no_temperature() -> None:
    report = Scrapes().take(text(1, changes={0: {"DCGM_FI_DEV_MEMORY_TEMP": "0"}}))
    assert "memory_temperature_celsius" not in first(report).values


def test_what_is_out_of_its_range_is_dropped_and_counted() -> None:
    wrong = {"DCGM_FI_DEV_GPU_UTIL": "140", "DCGM_FI_DEV_POWER_USAGE": "-3"}
    report = Scrapes().take(text(1, changes={0: wrong}))
    assert not first(report).values.keys() & {"utilisation_percent", "power_watts"}
    assert report.dropped == {"utilisation_percent": 1, "power_watts": 1}


def test_a_line_that_makes_no_sense_is_counted_and_the_others_go_on() -> None:
    metric = "DCGM_FI_DEV_GPU_TEMP"
    garbage = [
        f'{metric}{{gpu="0"', f"{metric}{{gpu=0}} 1", f'{metric}{{UUID="x"}} 1', f'{metric}{{gpu="0"}}',
        f'{metric}{{gpu="zero"}} 1', f'{metric}{{gpu="0",GPU_I_ID="x"}} 1',
    ]  # fmt: skip
    report = Scrapes().take("\n".join(garbage) + "\n" + text(1))
    assert report.dropped == {UNREADABLE: len(garbage)}
    assert first(report).values["temperature_celsius"] == 38.0


@pytest.mark.parametrize("served", ["", "<html>It works!</html>", "go_goroutines 12\n", "\x00\xff" * 50], ids=repr)
def test_what_names_no_gpu_is_not_the_text_of_a_dcgm_exporter(served: str) -> None:
    with pytest.raises(Unreadable, match="names no GPU"):
        read(served)


def test_values_in_quotes_may_hold_anything() -> None:
    odd = line("DCGM_FI_DEV_GPU_TEMP", "38", modelName='a \\"b\\" } { , c')
    assert read(odd).gpus[0].name == 'a "b" } { , c'


def test_a_timestamp_after_the_value_is_no_value() -> None:
    assert read(line("DCGM_FI_DEV_GPU_TEMP", "38 1767322800000")).gpus[0].raw == {"DCGM_FI_DEV_GPU_TEMP": 38.0}


def test_the_pods_of_a_gpu_are_told_also_of_one_that_several_share() -> None:
    served = "".join(
        line("DCGM_FI_DEV_GPU_UTIL", "97", namespace="research", pod=pod, container="main") for pod in ("a-1", "b-2")
    ) + line("DCGM_FI_DEV_GPU_UTIL", "3", gpu=1, pod_namespace="research", pod_name="old", container_name="c")
    gpus = read(served).gpus
    assert gpus[0].containers == [GpuContainer("research", "a-1", "main"), GpuContainer("research", "b-2", "main")]
    assert gpus[1].containers == [GpuContainer("research", "old", "c")]


def test_there_are_never_more_gpus_than_a_node_can_have() -> None:
    served = "".join(line("DCGM_FI_DEV_GPU_TEMP", "38", gpu=gpu) for gpu in range(500))
    assert len(read(served).gpus) == MAX_GPUS


@given(st.text(alphabet=st.sampled_from('DCGM_FI_DEV_GPU_TEMP{}gpu="01",\\ \n#xid'), max_size=300))
def test_whatever_is_served_it_is_read_or_refused_in_a_sentence(served: str) -> None:
    for found in (served, text(1) + "DCGM_FI_DEV_GPU_TEMP{" + served):
        try:
            Scrapes().take(found)
        except Unreadable as error:
            assert str(error)  # noqa: PT017


def test_half_of_a_line_changes_no_other() -> None:
    whole = text(2)
    for cut in range(len(whole) - 300, len(whole)):
        report = Scrapes().take(whole[:cut])
        assert first(report).values["power_watts"] == 67.03

"""Fake devices: profiles from real outputs, files that people write, and stories that change while they are played."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hedgerow.wire_agent import GPU_VALUES, HEALTHY
from hedgerow_agent.devices import smi_xml
from hedgerow_agent.devices.fake_file import load
from hedgerow_agent.devices.profiles import names, profile
from tests.unit.hedgerow_agent.node import Node, gpus, story

OUTPUTS = {
    "a100-mig": "telegraf_a100-sxm4-v12", "a10g": "telegraf_a10g", "t4": "telegraf_tesla-t4",
    "rtx-4000-ada": "telegraf_rtx-4000-sff-ada-v13", "gtx-1070-ti": "telegraf_gtx-1070-ti",
}  # fmt: skip
BAD: dict[str, tuple[Any, str]] = {
    "no list": ({}, "expected a mapping with a list `gpus`"),
    "a profile that is not there": ({"gpus": [{"profile": "b300"}]}, "gpus[0].profile: no profile is called 'b300'"),
    "an unknown field": ({"gpus": [{"speed": 1}]}, "gpus[0]: unknown field 'speed'"),
    "an unknown value": ({"gpus": [{"values": {"watts": 1}}]}, "gpus[0].values: no value is called 'watts'"),
    "too many": ({"gpus": [{"count": 65}]}, "gpus[0].count is 65"),
    "a step without a GPU": ({"gpus": [{}], "script": [{"at": 1, "gpu": 3}]}, "script[0].gpu is 3; expected an index"),
    "a step at no time": ({"gpus": [{}], "script": [{"at": "soon"}]}, "script[0].at is 'soon'; expected seconds"),
    "a step that is none": ({"gpus": [{}], "script": [7]}, "script[0] is 7; expected a mapping"),
    "processes that are none": (
        {"gpus": [{"processes": "mine"}]},
        "gpus[0].processes is 'mine'; expected ranks, or a list",
    ),
    "values that are none": ({"gpus": [{"values": 7}]}, "gpus[0].values is 7; expected names with numbers"),
}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_profile_is_what_a_real_gpu_said(shared_data: Path, name: str) -> None:
    text = (shared_data / "gpu" / "nvidia_smi_xml" / f"{OUTPUTS[name]}.xml").read_text()
    driver, (gpu, *_) = smi_xml.read(text)
    kept = profile(name)
    assert (kept["name"], kept["driver"], kept["values"]) == (gpu.identity.name, driver, gpu.values)
    assert kept["throttle_reasons"] == gpu.throttle_reasons
    assert [one["values"] for one in kept.get("instances", [])] == [one.values for one in gpu.instances]


@pytest.mark.shared_data
def test_with_mig_utilisation_is_absent_and_not_zero(shared_data: Path) -> None:
    text = (shared_data / "gpu" / "nvidia_smi_xml" / "telegraf_a100-sxm4-v12.xml").read_text()
    _, (gpu, *_) = smi_xml.read(text)
    assert {"utilisation_percent", "memory_utilisation_percent"}.isdisjoint(gpu.values)
    assert gpu.values["mig_enabled"] == 1
    assert len(gpu.instances) == 4


@pytest.mark.shared_data
def test_an_output_of_nvidia_smi_may_be_played_as_it_is(shared_data: Path, tmp_path: Path) -> None:
    output = shared_data / "gpu" / "nvidia_smi_xml" / "telegraf_tesla-t4.xml"
    node = Node(tmp_path, {"gpus": [{"nvidia-smi": os.fspath(output)}]})
    gpu = node.gpu(0)
    assert (gpu.name, gpu.pci, gpu.values["power_watts"]) == ("Tesla T4", "0000:00:1e.0", 26.78)
    assert gpu.processes is not None
    assert [one.pid for one in gpu.processes] == [5762]


@pytest.mark.parametrize("name", names())
def test_a_gpu_of_this_profile_is_healthy(name: str, tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(2, name))
    node.looks(120, every=30)
    assert (node.report().health, node.report().broken, node.report().dropped) == (HEALTHY, {}, {})
    assert set(node.gpu(1).values) <= set(GPU_VALUES)


def test_a_report_of_nvidia_smi_that_is_cut_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="this is not what nvidia-smi -q -x prints"):
        smi_xml.read("<nvidia_smi_log><gpu>")


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    content, words = BAD[case]
    file = tmp_path / "fake.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are compared below)
        load(str(file))
    assert words in str(refused.value)
    assert str(refused.value).startswith(str(file))


def test_people_write_yaml(tmp_path: Path) -> None:
    file = tmp_path / "fake.yaml"
    file.write_text('gpus:\n- {profile: t4, count: 2}\nscript:\n- {at: 5, gpu: 1, kernel: "NVRM: x"}\n')
    scene = load(str(file)).scene(6.0)
    assert (len(scene.gpus), scene.kernel) == (2, [(0, "NVRM: x")])
    file.write_text("gpus: [")
    with pytest.raises(ValueError, match="is no YAML"):
        load(str(file))


def test_counters_rise_with_time(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(1, nvlink_transmitted_bytes={"start": 100, "per_second": 10}))
    node.look(5)
    assert node.gpu(0).values["nvlink_transmitted_bytes"] == 150


def test_a_file_that_changes_is_played_from_its_beginning(tmp_path: Path) -> None:
    node = Node(tmp_path, story(1, {"at": 5, "kernel": "NVRM: Xid (PCI:0000:01:00): 31, x"}))
    node.looks(10)
    assert [event.count for event in node.report().events] == [1]
    node.path.write_text(
        json.dumps(story(1, {"at": 5, "kernel": "NVRM: Xid (PCI:0000:01:00): 31, y"}, power_watts=1.5))
    )
    node.looks(4, every=1)
    assert node.gpu(0).values["power_watts"] == 1.5
    assert [event.count for event in node.report().events] == [1]
    node.looks(10)
    assert [event.count for event in node.report().events] == [2]


def test_a_file_that_becomes_bad_is_said_and_what_was_before_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    node = Node(tmp_path, gpus(2))
    node.path.write_text("{")
    node.looks(10)
    assert node.report().health == HEALTHY
    assert "what was read before goes on" in capfd.readouterr().err

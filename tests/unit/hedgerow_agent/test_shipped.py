"""What is shipped with the agent fits it: the unit of systemd, the document, the tests for machines with a GPU."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from hedgerow_agent.checks import gpu_checks
from hedgerow_agent.devices import fake_file
from hedgerow_agent.devices.profiles import names
from hedgerow_agent.host import host_checks
from hedgerow_agent.options import Options, parse
from hedgerow_agent.yaml_text import read


def test_the_unit_of_systemd_starts_the_agent_with_options_that_it_has(root: Path) -> None:
    unit = (root / "agent" / "hedgerow-agent.service").read_text()
    (start,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    program, *words = shlex.split(start)
    assert Path(program).name == "hedgerow-agent"
    assert parse(words).metrics_address == "127.0.0.1:9500"


def test_the_settings_for_nodes_of_slurm_are_ones_that_the_agent_has(root: Path) -> None:
    text = (root / "examples" / "slurm-agent" / "hedgerow-agent.env").read_text()
    set_there = dict(re.findall(r"^#?([A-Z][A-Z_]+)=(\S+)$", text, re.MULTILINE))
    assert set_there.pop("HEDGEROW_NODE") == "n3"
    names = [name.removeprefix("HEDGEROW_AGENT_").lower() for name in set_there]
    assert names == ["report_url", "address_file", "token_file"]
    assert all(name in Options.__dataclass_fields__ for name in names)


def test_the_document_names_every_check_and_every_profile(root: Path) -> None:
    text = (root / "docs" / "gpu.md").read_text()
    checks = [check.name for check in (*gpu_checks(), *host_checks([]))]
    assert [name for name in checks if not re.search(rf"^\|[^|]*\b{name}\b", text, re.MULTILINE)] == []
    assert [name for name in names() if f"`{name}`" not in text] == []


def test_the_fake_file_of_the_document_can_be_played(root: Path, tmp_path: Path) -> None:
    (content,) = re.findall(r"```yaml\n(gpus:.+?)```", (root / "docs" / "gpu.md").read_text(), re.DOTALL)
    file = tmp_path / "fake.yaml"
    file.write_text(content)
    scene = fake_file.script(read(str(file)), str(file)).scene(50.0)
    assert (len(scene.gpus), scene.gpus[3].state, len(scene.kernel)) == (8, "Lost", 1)


def test_the_tests_for_gpus_say_when_there_is_none(root: Path) -> None:
    run = subprocess.run(
        [sys.executable, "tests/gpu/run.py"], cwd=root, capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin", "NVIDIA_VISIBLE_DEVICES": "none", "LD_LIBRARY_PATH": ""},
    )  # fmt: skip
    lists_gpus = "driver " in run.stdout
    assert lists_gpus or (run.returncode, run.stdout.split(":")[0]) == (2, "there is no GPU to test here")

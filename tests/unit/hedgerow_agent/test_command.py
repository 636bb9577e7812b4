"""The command `hedgerow-agent`: one look, a loop that ends when told, and mistakes that are said in a sentence."""

import gc
import json
import signal
import socket
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from hedgerow_agent.options import parse
from tests.unit.hedgerow_agent.node import Node, gpus, story
from tests.unit.hedgerow_agent.polling import until

COMMAND = [sys.executable, "-m", "hedgerow_agent"]


def fake(tmp_path: Path, count: int = 2) -> str:
    file = tmp_path / "gpus.json"
    file.write_text(json.dumps(gpus(count)))
    return f"fake:{file}"


def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin", **environment}
    )


def test_one_look_is_printed_for_people(tmp_path: Path) -> None:
    done = run("--once", "--node", "gpu-7", "--devices", fake(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:3] == [
        "node gpu-7: Healthy", "driver: 535.54.03",
        "GPU 0 NVIDIA A100-SXM4-80GB 0000:01:00.0: Present, Healthy; 0 % busy, 0 GiB used, 67 W, 27 °C",
    ]  # fmt: skip


def test_one_look_is_printed_as_json(tmp_path: Path) -> None:
    done = run("--once", "-o", "json", "--devices", fake(tmp_path, 8))
    report = json.loads(done.stdout)
    assert (report["health"], len(report["gpus"])) == ("Healthy", 8)


def test_settings_may_come_from_the_environment(tmp_path: Path) -> None:
    devices = fake(tmp_path)
    done = run("--once", "-o", "json", HEDGEROW_AGENT_DEVICES=devices, HEDGEROW_NODE="gpu-9")
    report = json.loads(done.stdout)
    assert (report["node"], report["driver"]["source"]) == ("gpu-9", "fake")


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"SLURMD_NODENAME": "n3"}, "n3"),
        ({"SLURMD_NODENAME": "n3", "HEDGEROW_NODE": "gpu-9"}, "gpu-9"),
        ({}, socket.gethostname().partition(".")[0]),
    ],
)
def test_a_node_is_called_as_its_cluster_calls_it(tmp_path: Path, variables: dict[str, str], name: str) -> None:
    done = run("--once", "-o", "json", "--devices", fake(tmp_path), **variables)
    assert json.loads(done.stdout)["node"] == name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--report-url", "http://a:1", "--address-file", "/b"], "both say where the operator is; leave one out"),
        (["--devices", "rocm"], "--devices is 'rocm'; expected nvml or fake:FILE.yaml"),
        (["--once", "--devices", "fake:/no/such"], "/no/such cannot be read: No such file or directory"),
        (["--once", "--kernel-log", "dmesg"], "expected auto, kmsg, journal, file:PATH or none"),
        (["--sample-seconds", "never"], "'never' is no number of seconds"),
        (["--sample-seconds", "0"], "0 is out of range: from 0.05 to 86400 seconds"),
        (["--metrics-address", "here"], "--metrics-address is 'here'; expected HOST:PORT"),
        ([], "nobody would hear: give --report-url, --address-file or --metrics-address, or --once for one look"),
    ],
)
def test_a_mistake_is_said_in_a_sentence(words: list[str], sentence: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_checkpoint_paths_may_be_several(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse(["--checkpoint-path", "/a", "--checkpoint-path", "/b"]).checkpoint_paths == ("/a", "/b")
    monkeypatch.setenv("HEDGEROW_AGENT_CHECKPOINT_PATH", "/c:/d")
    assert parse([]).checkpoint_paths == ("/c", "/d")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_loop_ends_when_told_also_while_a_gpu_hangs(tmp_path: Path, number: int) -> None:
    file = tmp_path / "gpus.json"
    file.write_text(json.dumps(story(2, {"at": 0, "gpu": 1, "state": "Hung"})))
    words = ["--devices", f"fake:{file}", "--metrics-address", "127.0.0.1:0", "--sample-seconds", "0.05"]
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "the driver answers" in line)
        process.send_signal(number)
        assert process.wait(20) == 0


def test_the_driver_is_let_go_of_by_a_signal(tmp_path: Path) -> None:
    words = ["--devices", fake(tmp_path), "--metrics-address", "127.0.0.1:0", "--sample-seconds", "0.05"]
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "the driver answers" in line)
        process.send_signal(signal.SIGUSR1)
        next(line for line in process.stderr if "let go of the driver for 120 s, as asked" in line)
        process.kill()


def test_memory_does_not_grow_with_time_nor_with_what_the_kernel_says(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(2))

    def spend(rounds: int, first: int) -> None:
        for number in range(first, first + rounds):
            node.log.write(f"NVRM: Xid (PCI:{number % 60000:04x}:01:00): {number % 900}, {'x' * 200}")
            node.clock.now += 1
            node.agent.tick()
            node.report()

    spend(120, 0)
    gc.collect()
    tracemalloc.start()
    spend(20, 120)
    before = tracemalloc.get_traced_memory()[0]
    spend(300, 140)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000


def test_the_loop_serves_health(tmp_path: Path) -> None:
    words = ["--devices", fake(tmp_path), "--metrics-address", "127.0.0.1:0", "--sample-seconds", "0.05"]
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = next(line for line in process.stderr if "metrics are served" in line).split()[-1]
        fetch = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/healthz').read().decode())"
        found = until(lambda: subprocess.run([sys.executable, "-c", fetch], capture_output=True, text=True).stdout)
        assert found.strip() == "ok"
        process.kill()

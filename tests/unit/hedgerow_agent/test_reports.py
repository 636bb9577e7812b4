"""Reports go out when they are due and when something is new, whatever the operator does; metrics are served."""

import http.server
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.wire_agent import AGENT_REPORTS_PATH, AgentReport, decode_answer, encode_report
from hedgerow_agent import metrics
from hedgerow_agent.reporter import Address, Reporter
from hedgerow_agent.server import Server, _Handler
from tests.unit.hedgerow_agent.node import Node, gpus, story
from tests.unit.hedgerow_agent.polling import until


class Operator(http.server.ThreadingHTTPServer):
    """Takes reports, and answers what the test says."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.taken: list[tuple[str, str, AgentReport]] = []
        self.connections: set[object] = set()
        self.status, self.answer = 200, b'{"version": 1, "interval_seconds": 0.5}'


class Taking(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        operator = self.server
        assert isinstance(operator, Operator)
        operator.connections.add(self.client_address)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        report = msgspec.json.decode(body, type=AgentReport)
        operator.taken.append((self.path, self.headers.get("Authorization", ""), report))
        self.send_response(operator.status)
        self.send_header("Content-Length", str(len(operator.answer)))
        self.end_headers()
        self.wfile.write(operator.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def operator() -> Iterator[Operator]:
    with Operator() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def reporting(operator: Operator, node: Node, tmp_path: Path) -> Iterator[Reporter]:
    """Reports of this node go to that operator meanwhile."""
    token = tmp_path / "token"
    token.write_text("secret\n")
    found = Reporter(Address(f"http://127.0.0.1:{operator.server_port}"), str(token), "", 0.5, node.report)
    found.start()
    yield found
    found.end()
    found.join()


def test_reports_go_out_at_the_interval_that_the_operator_asks_for(operator: Operator, tmp_path: Path) -> None:
    with reporting(operator, Node(tmp_path, gpus(2)), tmp_path):
        until(lambda: len(operator.taken) >= 3)
    path, token, report = operator.taken[0]
    assert (path, token, report.node, len(report.gpus)) == (AGENT_REPORTS_PATH, "Bearer secret", "node-1", 2)
    assert [one.seq for _, _, one in operator.taken[:3]] == [1, 2, 3]


def test_one_connection_serves_many_reports(operator: Operator, tmp_path: Path) -> None:
    with reporting(operator, Node(tmp_path, gpus(1)), tmp_path):
        until(lambda: len(operator.taken) >= 3)
    assert len(operator.connections) == 1


def test_an_operator_that_comes_back_elsewhere_is_found_by_the_file_with_its_address(
    operator: Operator, tmp_path: Path
) -> None:
    address = tmp_path / "address"
    address.write_text("http://127.0.0.1:9\n")
    reporter = Reporter(Address("", str(address)), "", "", 0.5, Node(tmp_path, gpus(1)).report)
    reporter.start()
    address.write_text(f"http://127.0.0.1:{operator.server_port}\n")
    until(lambda: bool(operator.taken))
    reporter.end()
    reporter.join()


def test_what_is_new_goes_out_at_once(operator: Operator, tmp_path: Path) -> None:
    operator.answer = b'{"version": 1, "interval_seconds": 600}'
    with reporting(operator, Node(tmp_path, gpus(1)), tmp_path) as reporter:
        until(lambda: len(operator.taken) == 1)
        reporter.report_now()
        until(lambda: len(operator.taken) == 2)


@pytest.mark.parametrize(
    ("status", "answer"),
    [(503, b"not the leader"), (200, b"no JSON"), (200, b"[]"), (200, b'{"version": 9}'), (401, b"")],
)
def test_whatever_the_operator_answers_reports_go_on(
    operator: Operator, tmp_path: Path, capfd: pytest.CaptureFixture[str], status: int, answer: bytes
) -> None:
    operator.status, operator.answer = status, answer
    said: list[str] = []

    def back() -> bool:
        said.append(capfd.readouterr().err)
        return "reports reach the operator again" in "".join(said)

    with reporting(operator, Node(tmp_path, gpus(1)), tmp_path):
        until(lambda: len(operator.taken) >= 2)
        operator.status, operator.answer = 200, b'{"version": 1, "interval_seconds": 0.5}'
        until(back)
    assert "secret" not in "".join(said)


def test_an_answer_with_a_version_that_is_not_known_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="this agent understands 1"):
        decode_answer(b'{"version": 2}')


def test_a_report_survives_its_way_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    steps = [{"at": 0, "gpu": 1, "state": "Lost"}, {"at": 0, "kernel": "NVRM: Xid (PCI:0000:01:00): 79, GPU has"}]
    report = Node(tmp_path, story(2, *steps)).report()
    body = encode_report(report)
    assert msgspec.json.decode(body, type=AgentReport) == report
    assert b"null" not in body
    assert json.loads(body)["gpus"][1].get("values") is None


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_whatever_comes_as_an_answer_is_read_or_refused(data: bytes) -> None:
    try:
        decode_answer(data)
    except (ValueError, TypeError):
        return


def test_metrics_have_units_types_and_bounded_labels(tmp_path: Path) -> None:
    steps = [{"at": 0, "set": {"remap_pending": 1, "remap_failed": 0}},
             {"at": 0, "kernel": 'NVRM: Xid (PCI:0000:01:00): 31, pid=1, name=a"b, x'}]  # fmt: skip
    node = Node(tmp_path, story(1, *steps, utilisation_percent=37))
    text = metrics.text(node.report())
    lines = text.splitlines()
    labels = f'gpu="0",uuid="{node.gpu(0).uuid}"'
    assert f"hedgerow_gpu_utilisation_ratio{{{labels}}} 0.37" in lines
    assert "# TYPE hedgerow_gpu_pcie_replays_total counter" in lines
    assert f'hedgerow_gpu_health{{{labels},health="Degraded"}} 1.0' in lines
    assert (
        'hedgerow_finding{check="remap",reason="RowRemapPending",health="Degraded",action="Reset",gpu="0"} 1.0' in lines
    )
    assert 'hedgerow_gpu_kernel_messages_total{kind="Xid",code="31",pci="0000:01:00.0"} 1.0' in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))


def test_the_server_answers_while_clients_say_nothing_and_has_room_again_when_they_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server("127.0.0.1:0", lambda: "x 1\n", lambda: "")

    def answered() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=120) as answer:
                return bool(answer.read() == b"x 1\n")
        except OSError:
            return False

    with monkeypatch.context() as patient, socket.create_connection(("127.0.0.1", server.port)):
        patient.setattr(_Handler, "timeout", 600.0)
        assert answered()
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
    until(answered)
    for one in silent:
        one.close()
    server.close()


def test_health_says_what_is_wrong_and_other_paths_are_refused() -> None:
    server = Server("127.0.0.1:0", lambda: "", lambda: "no look for 90 s")
    for path, status, words in (
        ("/healthz", 503, b"no look for 90 s\n"),
        ("/", 404, b"there are /metrics and /healthz\n"),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=120)
        assert (refused.value.code, refused.value.read()) == (status, words)
        refused.value.close()
    server.close()

"""A DaemonSet that serves what a dcgm-exporter would serve, out of a file for each node that the test writes."""

from pathlib import Path

from tests.cluster.scenario.agents import NODES, QUARANTINE_SECONDS, SILENT_SECONDS
from tests.cluster.scenario.manifests import Fields, as_text
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed.images import PYTHON_IMAGE
from tests.unit.core.nodes.exporter_text import WELL, line

NAMESPACE = "gpu-exporters"
LABELS = {"app.kubernetes.io/name": "dcgm-exporter"}
SICK_GPU = 3
GPUS = 8
_FILE = "metrics"
_ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
# What is measured changes: here the energy that each GPU has used, by the clock.
_SERVER = """
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            text = open("/served/metrics").read().replace("@ENERGY@", "%d" % (time.time() * 1000))
        except FileNotFoundError:
            return self.send_error(500)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())
http.server.ThreadingHTTPServer(("", 9400), Handler).serve_forever()
"""


class Exporters:
    """One on each node."""

    def __init__(self, operator: InstalledOperator) -> None:
        self._operator = operator
        self._cluster = operator.cluster
        self._folder: Path = operator.cluster.site.work / "exporters"

    def install(self) -> None:
        """They run, every GPU is well, and the operator asks them in place of agents."""
        for node in NODES:
            (self._folder / node).mkdir(parents=True, exist_ok=True)
            self.serve(node)
        self._cluster.kubectl("delete", "gpunodes", "--all")  # whose quarantine may last, of the agents before us
        self._cluster.kubectl("create", "namespace", NAMESPACE)
        self._cluster.kubectl("apply", "-f", "-", stdin=as_text(_daemon_set(self._folder)))
        self._operator.install(
            "agent.enabled=true",
            "agent.source=DCGMExporter",
            f"agent.dcgmExporter.namespace={NAMESPACE}",
            f"agent.silentSeconds={SILENT_SECONDS}",
            f"agent.quarantineSeconds={QUARANTINE_SECONDS}",
        )

    def remove(self) -> None:
        """As it was before."""
        self._cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")

    def serve(self, node: str, xid: int = 0, namespace: str = "", pod: str = "") -> None:
        """The GPUs of the node. xid: the last one of SICK_GPU, which is given to the pod, with the GPU after it."""
        text = ""
        for gpu in range(GPUS):
            owner = {"namespace": namespace, "pod": pod, "container": "train"}
            labels = owner if pod and gpu in (SICK_GPU, SICK_GPU + 1) else {}
            shown = {**WELL, _ENERGY: "@ENERGY@", "DCGM_FI_DEV_XID_ERRORS": str(xid if gpu == SICK_GPU else 0)}
            text += "".join(line(metric, value, gpu, **labels) for metric, value in shown.items())
        path = self._folder / node / _FILE
        part = path.with_suffix(".part")
        part.write_text(text)
        part.rename(path)

    def break_down(self, node: str) -> None:
        """It answers with a fault of its own."""
        (self._folder / node / _FILE).unlink()


def _daemon_set(folder: Path) -> Fields:
    container = {
        "name": "exporter",
        "image": PYTHON_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", _SERVER],
        "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "volumeMounts": [{"name": "served", "mountPath": "/served", "subPathExpr": "$(NODE)"}],
    }
    template = {
        "metadata": {"labels": LABELS},
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": 1,
            "tolerations": [{"operator": "Exists"}],
            "volumes": [{"name": "served", "hostPath": {"path": str(folder)}}],
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "dcgm-exporter", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": LABELS}, "template": template},
    }

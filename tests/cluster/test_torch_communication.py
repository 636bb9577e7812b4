"""Time in collectives as the real torch tells it: DDP over gloo, two ranks of one pod.

The script has no line for it but the one that shortens the minute.
"""

import json
from pathlib import Path

from hedgerow import pack
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import PYTORCH_IMAGE

LATE_SECONDS = 0.05
SCRIPT = f"""
import json, os, time
from hedgerow import communication, record, values
communication.WINDOW_SECONDS, communication.READ_SECONDS, communication.SAMPLE_SECONDS = 1.0, 0.1, 0.2
import torch
import torch.distributed as dist
rank = int(os.environ["RANK"])
dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(500, 500), torch.nn.Linear(500, 10))
model = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(60):
    if rank == 1:
        time.sleep({LATE_SECONDS})
    optimizer.zero_grad()
    model(torch.randn(8, 500)).sum().backward()
    dist.all_reduce(torch.zeros(1))
    optimizer.step()
table = values.read(open(os.environ["HEDGEROW_HEARTBEAT"], "rb").read())
print("told", rank, json.dumps({{name: value.number for name, value in table.items()}}), flush=True)
"""
RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def run(cluster: Cluster, namespace: str) -> None:
    container = {
        "name": "main",
        "image": PYTORCH_IMAGE,
        "imagePullPolicy": "Never",
        "command": [
            "python3",
            "/code/hedgerow.pyz",
            "run",
            "--nproc-per-worker",
            "2",
            "--",
            "python3",
            "/code/train.py",
        ],
        "env": [{"name": "HEDGEROW_TMP", "value": "/room"}],
        "securityContext": RESTRICTED,
        "volumeMounts": [{"name": "code", "mountPath": "/code"}, {"name": "room", "mountPath": "/room"}],
    }
    spec = {
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "code", "configMap": {"name": "code"}}, {"name": "room", "emptyDir": {}}],
    }
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ddp", "namespace": namespace}, "spec": spec}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))


def test_ddp_and_explicit_calls_are_measured_and_the_late_rank_waits_least(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    pack.write(str(tmp_path / "hedgerow.pyz"))
    (tmp_path / "train.py").write_text(SCRIPT)
    cluster.kubectl("-n", namespace, "create", "configmap", "code", f"--from-file={tmp_path}")
    run(cluster, namespace)

    def ended(_: Cluster) -> str:
        phase = cluster.api.get(f"/api/v1/namespaces/{namespace}/pods/ddp")["status"].get("phase")
        assert phase != "Failed", cluster.kubectl("-n", namespace, "logs", "ddp")
        return cluster.kubectl("-n", namespace, "logs", "ddp") if phase == "Succeeded" else ""

    log = cluster.wait_for("two ranks to have trained", ended, timeout=120)
    told = {int(line.split()[1]): json.loads(line.split(" ", 2)[2]) for line in log.splitlines() if "told" in line}
    assert sorted(told) == [0, 1]
    assert all(table["hedgerow.communication_kind"] == 3 for table in told.values())
    waits, late = (told[rank]["hedgerow.communication_seconds"] for rank in (0, 1))
    assert LATE_SECONDS / 2 < waits < 20 * LATE_SECONDS
    assert late < waits
    assert 0 < told[0]["hedgerow.communication_share"] < 1.5

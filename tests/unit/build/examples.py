"""Jobs and settings that the tests of built manifests start from."""

from __future__ import annotations

from typing import Any

from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.build.injection import Injection

INJECTION = Injection(image="registry.example/hedgerow:1.2.3", report_url="http://hedgerow.hedgerow-system.svc:8080")
UID = "0d9f6a1e-8f6b-4d5a-9a3e-2f0c4b7d1e55"


def plain_template() -> dict[str, Any]:
    """The least that a user must write."""
    return {"spec": {"containers": [{"name": "trainer", "image": "example/train", "command": ["python", "train.py"]}]}}


def rich_template() -> dict[str, Any]:
    """A template with everything that Hedgerow has to leave alone or add to."""
    return {
        "metadata": {
            "labels": {"team": "vision"},
            "annotations": {"kubectl.kubernetes.io/default-container": "trainer", "example.org/note": "kept"},
        },
        "spec": {
            "schedulerName": "gang-scheduler",
            "priorityClassName": "batch-high",
            "serviceAccountName": "trainer",
            "terminationGracePeriodSeconds": 90,
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "securityContext": {"runAsUser": 1000, "fsGroup": 2000},
            "initContainers": [{"name": "fetch", "image": "example/fetch", "command": ["fetch"]}],
            "containers": [
                {"name": "logs", "image": "example/logs", "command": ["ship"]},
                {
                    "name": "trainer",
                    "image": "example/train",
                    "command": ["python", "-u", "train.py"],
                    "args": ["--epochs", "3"],
                    "env": [{"name": "DATA", "value": "/data/$(HEDGEROW_NODE)"}],
                    "resources": {"limits": {"nvidia.com/gpu": 8}},
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                },
            ],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "affinity": {
                "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100"]}]},
                            {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h200"]}]},
                        ]
                    }
                },
            },
        },
    }


def crowded_template() -> dict[str, Any]:
    """A pod of the node's own network, with containers beside the one that trains that never end."""
    return {
        "spec": {
            "hostNetwork": True,
            "shareProcessNamespace": True,
            "terminationGracePeriodSeconds": 600,
            "imagePullSecrets": [{"name": "registry"}],
            "initContainers": [
                {"name": "proxy", "image": "example/proxy", "restartPolicy": "Always"},
                {"name": "fetch", "image": "example/fetch", "command": ["fetch"]},
            ],
            "containers": [
                {"name": "logs", "image": "example/logs"},
                {
                    "name": "trainer",
                    "image": "example/train",
                    "command": ["/train"],
                    "lifecycle": {"preStop": {"exec": {"command": ["/save"]}}},
                },
            ],
        }
    }


def narrow_template() -> dict[str, Any]:
    """A pod as the restricted Pod Security Standard wants it, whose every container has resources for a quota."""
    size = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}
    return {
        "spec": {
            "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "trainer",
                    "image": "example/train",
                    "command": ["/train"],
                    "resources": {"requests": size, "limits": size},
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                    },
                }
            ],
        }
    }


def job(template: dict[str, Any] | None = None, **spec: Any) -> TrainingJob:
    """A TrainingJob of 2 workers with 4 ranks each, with these fields of spec instead or besides."""
    return job_of({"template": template or plain_template()}, **spec)


def job_of(kubernetes: dict[str, Any], **spec: Any) -> TrainingJob:
    """The same with all of spec.kubernetes."""
    fields = {"workers": 2, "ranksPerWorker": 4, "kubernetes": kubernetes, **spec}
    return training_job({"metadata": {"name": "bert", "namespace": "research", "uid": UID}, "spec": fields})

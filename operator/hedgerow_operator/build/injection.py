"""How the launcher gets into a pod: the init container that copies it, its volumes and the wrapped command."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hedgerow_operator.api.labels import TOKEN_AUDIENCE

INIT_CONTAINER = "hedgerow-inject"
AGENT_VOLUME = "hedgerow-agent"
TOKEN_VOLUME = "hedgerow-token"  # noqa: S105  (a name, not a secret)
AGENT_DIRECTORY = "/hedgerow"
TOKEN_DIRECTORY = "/var/run/secrets/hedgerow.dev"  # noqa: S105  (a path)
TOKEN_FILE = f"{TOKEN_DIRECTORY}/token"
LAUNCHER_ARCHIVE = "hedgerow.pyz"
LAUNCHER_IN_IMAGE = f"/opt/hedgerow/{LAUNCHER_ARCHIVE}"
TOKEN_SECONDS = 3600
# Fixed, so that the container is not root even where the pod's own security context says root.
USER_ID = 65532


class Injection(Struct, frozen=True, kw_only=True):
    """What the operator's settings say about injecting the launcher.

    image: has the launcher's archive and ``cp``. report_url: where launchers report, without a path.
    cpu, memory: quantities. They are request and limit at once, so that a Guaranteed pod stays Guaranteed.
    """

    image: str
    report_url: str
    pull_policy: str = "IfNotPresent"
    cpu: str = "50m"
    memory: str = "32Mi"


def init_container(injection: Injection) -> dict[str, Any]:
    """The container that copies the launcher's archive into the shared directory; restricted by itself."""
    size = {"cpu": injection.cpu, "memory": injection.memory}
    return {
        "name": INIT_CONTAINER,
        "image": injection.image,
        "imagePullPolicy": injection.pull_policy,
        "command": ["cp", LAUNCHER_IN_IMAGE, f"{AGENT_DIRECTORY}/{LAUNCHER_ARCHIVE}"],
        "resources": {"requests": dict(size), "limits": dict(size)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "runAsGroup": USER_ID,
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": AGENT_VOLUME, "mountPath": AGENT_DIRECTORY}],
    }


def volumes() -> list[dict[str, Any]]:
    """The shared directory, and the pod-bound token that the launcher's reports carry."""
    token = {"audience": TOKEN_AUDIENCE, "expirationSeconds": TOKEN_SECONDS, "path": "token"}
    return [
        {"name": AGENT_VOLUME, "emptyDir": {}},
        {"name": TOKEN_VOLUME, "projected": {"sources": [{"serviceAccountToken": token}]}},
    ]


def wrap(container: dict[str, Any], environment: list[dict[str, Any]]) -> dict[str, Any]:
    """The container with the launcher before its command. Our variables come first: the user's may refer to them."""
    launcher = ["python3", f"{AGENT_DIRECTORY}/{LAUNCHER_ARCHIVE}", "run", "--"]
    mounts = [
        {"name": AGENT_VOLUME, "mountPath": AGENT_DIRECTORY},
        {"name": TOKEN_VOLUME, "mountPath": TOKEN_DIRECTORY, "readOnly": True},
    ]
    return {
        **container,
        "command": [*launcher, *container["command"]],
        "env": [*environment, *(container.get("env") or [])],
        "volumeMounts": [*(container.get("volumeMounts") or []), *mounts],
    }

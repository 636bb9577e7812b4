"""How the launcher gets into a pod: the init container that copies it, its volumes and the wrapped command."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hedgerow.environment import PRELOAD
from hedgerow_operator.api.labels import TOKEN_AUDIENCE

INIT_CONTAINER = "hedgerow-inject"
AGENT_VOLUME = "hedgerow-agent"
TOKEN_VOLUME = "hedgerow-token"  # noqa: S105  (a name, not a secret)
AGENT_DIRECTORY = "/hedgerow"
TOKEN_DIRECTORY = "/var/run/secrets/hedgerow.dev"  # noqa: S105  (a path)
TOKEN_FILE = f"{TOKEN_DIRECTORY}/token"
# In the operator's image: the launcher's archive, and the small Python that it runs on (operator/image).
LAUNCHER_IN_IMAGE = "/opt/hedgerow/launcher"
_PYTHON = f"{AGENT_DIRECTORY}/python"
# By its own loader and with its own libraries, so that the image needs none; with no variable of the image's Python.
LAUNCHER = (
    f"{_PYTHON}/loader",
    "--inhibit-cache",
    "--library-path",
    f"{_PYTHON}/lib",
    f"{_PYTHON}/bin/python3",
    "-I",
    "-S",
    "-X",
    "utf8",
    f"{AGENT_DIRECTORY}/hedgerow.pyz",
    "run",
    "--",
)
TOKEN_SECONDS = 3600
# A container that fails without a message of its own then has the end of its output as its message.
_LAST_OUTPUT = {"terminationMessagePolicy": "FallbackToLogsOnError"}
# Fixed, so that the container is not root even where the pod's own security context says root.
USER_ID = 65532


class Injection(Struct, frozen=True, kw_only=True):
    """What the operator's settings say about injecting the launcher.

    image: has the launcher and ``cp``. report_url: where launchers report, without a path.
    cpu, memory, ephemeral_storage: quantities, the last one may be empty: none. They are request and limit at once, so
    that a Guaranteed pod stays Guaranteed.
    """

    image: str
    report_url: str
    pull_policy: str = "IfNotPresent"
    cpu: str = "50m"
    memory: str = "64Mi"
    ephemeral_storage: str = ""


def init_container(injection: Injection) -> dict[str, Any]:
    """The container that copies the launcher into the shared directory; restricted by itself."""
    size = {"cpu": injection.cpu, "memory": injection.memory}
    if injection.ephemeral_storage:
        size["ephemeral-storage"] = injection.ephemeral_storage
    return {
        "name": INIT_CONTAINER,
        "image": injection.image,
        "imagePullPolicy": injection.pull_policy,
        "command": ["cp", "-R", f"{LAUNCHER_IN_IMAGE}/.", AGENT_DIRECTORY],
        "resources": {"requests": dict(size), "limits": dict(size)},
        **_LAST_OUTPUT,
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
    mounts = [
        {"name": AGENT_VOLUME, "mountPath": AGENT_DIRECTORY},
        {"name": TOKEN_VOLUME, "mountPath": TOKEN_DIRECTORY, "readOnly": True},
    ]
    return {
        **_LAST_OUTPUT,
        **container,
        "command": [*LAUNCHER, *container["command"]],
        "env": [*environment, *(_out_of_our_way(entry) for entry in container.get("env") or [])],
        "volumeMounts": [*(container.get("volumeMounts") or []), *mounts],
    }


def _out_of_our_way(entry: dict[str, Any]) -> dict[str, Any]:
    """LD_PRELOAD is for the ranks, which get it back: a library of the image may not fit the launcher's own loader."""
    return {**entry, "name": PRELOAD} if entry["name"] == "LD_PRELOAD" else entry

"""How the API server is reached: KUBECONFIG or ~/.kube/config where there is one, else the pod's own account."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import (
    ConfigException,
    list_kube_config_contexts,
    load_incluster_config,
    load_kube_config,
)

from hedgerow_operator.api.metadata import DEFAULT_NAMESPACE

DEFAULT_KUBECONFIG = "~/.kube/config"


class NotConfigured(Exception):
    """Nothing says where the API server is; the message is one sentence for the user."""


async def load_configuration(context: str = "") -> Configuration:
    """The client configuration of this context of the kubeconfig, empty: its current one, or the pod's own account.

    Tokens are read anew as they rotate. Raises NotConfigured.
    """
    configuration = Configuration()
    files = _kubeconfig()
    try:
        if files:
            await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=files, context=context or None, client_configuration=configuration
            )
        else:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except ConfigException as error:
        raise NotConfigured(
            f"cannot tell how to reach a Kubernetes API server ({error}): "
            f"set KUBECONFIG, write {DEFAULT_KUBECONFIG}, or run in a pod with a service account"
        ) from error
    return configuration


def context_namespace(context: str = "") -> str:
    """The namespace that this context of the kubeconfig names, empty: the current one; "default" where none does."""
    files = _kubeconfig()
    if not files:
        return DEFAULT_NAMESPACE
    contexts, active = list_kube_config_contexts(files)  # type: ignore[no-untyped-call]
    chosen = next((entry for entry in contexts if entry["name"] == context), active)
    return str(chosen["context"].get("namespace") or DEFAULT_NAMESPACE)


def _kubeconfig() -> str:
    """The files to read, as KUBECONFIG lists them; empty when there is none."""
    files = os.environ.get("KUBECONFIG") or str(Path(DEFAULT_KUBECONFIG).expanduser())
    return files if any(Path(file).is_file() for file in files.split(os.pathsep) if file) else ""


def make_client(configuration: Configuration) -> ApiClient:
    """A client that names itself."""
    client = ApiClient(configuration)
    client.user_agent = f"hedgerow-operator/{version('hedgerow')}"
    return client

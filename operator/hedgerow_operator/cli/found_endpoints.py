"""The endpoints of a state directory as they are found from outside, and who serves them."""

from __future__ import annotations

import os
from pathlib import Path

import click
from msgspec import Struct

from hedgerow_operator.adapters.local.lock import holder
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, inference_endpoint
from hedgerow_operator.api.labels import INFERENCE_ENDPOINT_KIND
from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.api.yaml_text import YAMLTextError, read_documents


class FoundEndpoint(Struct, frozen=True, kw_only=True):
    """pid: of the process that serves it, 0 where its number is not known; None: nobody does."""

    endpoint: InferenceEndpoint
    pid: int | None = None


def find_endpoints(state_dir: Path) -> tuple[FoundEndpoint, ...]:
    """By name, also of earlier runs. Raises click.ClickException with a sentence."""
    paths = StatePaths(state_dir)
    if not os.path.isdir(paths.root):  # also where nobody lets us look
        return ()
    try:
        began = paths.gateway_address.stat().st_mtime_ns
    except OSError:  # it is there while something is served
        began = None
    pid = holder(paths) if began is not None else None
    files = sorted(paths.root.glob(f"*/{INFERENCE_ENDPOINT_KIND}/*.yaml"))
    return tuple(_found(file, pid, began) for file in files)


def _found(file: Path, pid: int | None, began: int | None) -> FoundEndpoint:
    """A run writes all of its endpoints once it has its address: what is older is of another run."""
    try:
        written, text = file.stat().st_mtime_ns, file.read_text()
        (document,) = read_documents(text)
        endpoint = inference_endpoint(document.fields)
        parse_optional_time(endpoint.metadata.creation_timestamp)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}") from None
    except (YAMLTextError, ValueError) as error:
        raise click.ClickException(f"{file} is damaged ({error}); delete it, hedgerow local writes it anew") from None
    return FoundEndpoint(endpoint=endpoint, pid=pid if began is not None and written >= began else None)

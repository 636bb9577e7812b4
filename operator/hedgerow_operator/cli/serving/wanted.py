"""What a local run serves, and how: read from manifests and options before anything is started."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from hedgerow_operator.adapters.local.paths import RESERVED_NAMES
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.manifests import Manifests
from hedgerow_operator.api.serverless_provider import ServerlessProvider


class ServingOptions(Struct, frozen=True, kw_only=True):
    """port: 0: a free one. secrets: folder with NAME/KEY. exit_when_jobs_done: endpoints are served no longer than the
    jobs run.
    """

    port: int = 0
    secrets: Path | None = None
    exit_when_jobs_done: bool = False

    def words(self) -> list[str]:
        """The same as words of a command line."""
        words = ["--gateway-port", str(self.port)] if self.port else []
        words += ["--secrets", str(self.secrets)] if self.secrets is not None else []
        return words + (["--exit-when-jobs-done"] if self.exit_when_jobs_done else [])


class Wanted(Struct, frozen=True, kw_only=True):
    """endpoints: none: there is no gateway."""

    endpoints: tuple[InferenceEndpoint, ...] = ()
    providers: tuple[ServerlessProvider, ...] = ()
    options: ServingOptions = ServingOptions()

    @property
    def stays(self) -> bool:
        """Whether the run goes on when the jobs are done."""
        return bool(self.endpoints) and not self.options.exit_when_jobs_done


NOTHING_SERVED = Wanted()


def wanted(manifests: Manifests, options: ServingOptions) -> Wanted:
    """Raises click.ClickException with the first thing that cannot be."""
    for found in manifests.endpoints:
        namespace = found.endpoint.metadata.namespace
        if namespace in RESERVED_NAMES:
            raise click.ClickException(
                f"{found.where}: metadata.namespace: {namespace} is the name of a file in the state directory; write "
                "another namespace"
            )
    if not manifests.endpoints and not manifests.jobs:
        raise click.ClickException("there is neither a TrainingJob nor an InferenceEndpoint; write at least one")
    if not manifests.endpoints and options.words():
        raise click.ClickException(f"{options.words()[0]} is about endpoints, and there is no InferenceEndpoint")
    return Wanted(
        endpoints=tuple(found.endpoint for found in manifests.endpoints),
        providers=tuple(found.provider for found in manifests.providers),
        options=options,
    )

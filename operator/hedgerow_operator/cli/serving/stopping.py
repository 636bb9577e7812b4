"""`hedgerow stop` for a run that serves endpoints: the whole run ends, as by Ctrl-C."""

from __future__ import annotations

import os
import signal
import time

import click

from hedgerow_operator.adapters.local.lock import holder
from hedgerow_operator.adapters.local.paths import StatePaths

# Requests and losers get 5 s each, ranks their grace.
_PATIENCE_SECONDS = 90.0
_LOOK_SECONDS = 0.1


def stop_serving(paths: StatePaths) -> bool:
    """Whether endpoints were served there; they are no longer. Raises click.ClickException when it takes too long."""
    pid = holder(paths) if os.path.exists(paths.gateway_address) else None
    if not pid:  # nobody, or one whose number is not known
        return False
    click.echo(f"ending process {pid}, which serves endpoints …")
    try:
        os.kill(pid, signal.SIGINT)
    except OSError as error:
        raise click.ClickException(f"process {pid} cannot be told to end: {error.strerror}") from None
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while holder(paths) == pid:
        if time.monotonic() > deadline:
            raise click.ClickException(f"process {pid} does not end; look into {paths.news}")
        time.sleep(_LOOK_SECONDS)
    click.echo("endpoints are served no longer")
    return True

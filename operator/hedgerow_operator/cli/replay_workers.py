"""`hedgerow replay workers`: reads the table of step times, prints who became slow."""

import io
from pathlib import Path

import click
import msgspec

from hedgerow_operator.cli.replay_training import chunks_of, save
from hedgerow_operator.replay.workers import Sample, WorkerIncident, as_object, read_samples, replay_workers

_MOST_BYTES = 256 << 20


def show_workers(table: Path, output: str | None, plot: Path | None) -> None:
    """Print the incidents. Raises click.ClickException with one sentence for bad input."""
    text = _whole(table).decode("utf-8", "replace")
    try:
        samples: list[Sample] = list(read_samples(io.StringIO(text.replace("\0", ""))))
    except ValueError as error:
        raise click.ClickException(f"{table}: {error}") from None
    incidents = replay_workers(samples)
    if plot is not None:
        from hedgerow_operator.replay.plot import draw_workers

        save(plot, lambda: draw_workers(samples, incidents))
    if output == "json":
        click.echo(msgspec.json.encode(as_object(incidents)))
    else:
        click.echo("\n".join(_line(incident) for incident in incidents) or "no worker became slower than its peers")


def _whole(table: Path) -> bytes:
    data = bytearray()
    for chunk in chunks_of(table):
        data += chunk
        if len(data) > _MOST_BYTES:
            raise click.ClickException(f"{table} is larger than {_MOST_BYTES >> 20} MiB; name a table of step times")
    return bytes(data)


def _line(incident: WorkerIncident) -> str:
    until = f"to sample {incident.closed}" if incident.closed is not None else "to the end"
    return f"{incident.kind} from sample {incident.opened} {until}: {incident.message}"

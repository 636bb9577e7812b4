"""`hedgerow replay flight-recorder`: who is guilty of a hang, from the dumps of its ranks."""

from pathlib import Path

import click
import msgspec

from hedgerow_operator.adapters.dumps.files import NoDumpsError, read_dumps
from hedgerow_operator.cli.output import write
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.recorder.verdict import RecorderVerdict, judge_dumps


def show_verdict(place: Path, output: str | None) -> None:
    """Print the verdict: one JSON object, or a few lines for people. Raises click.ClickException for bad input."""
    try:
        dumps, notes = read_dumps(place)
    except NoDumpsError as error:
        raise click.ClickException(str(error)) from None
    verdict = judge_dumps(dumps)
    verdict = msgspec.structs.replace(verdict, evidence=(*verdict.evidence, *notes))
    if output == "json":
        write(msgspec.json.encode(verdict).decode() + "\n")
    else:
        write("\n".join(lines_of(verdict)) + "\n")


def lines_of(verdict: RecorderVerdict) -> list[str]:
    """The verdict for people."""
    guilty = phrases.ranks(verdict.guilty) if verdict.guilty else "nobody can be named"
    lines = [
        verdict.message[:1].upper() + verdict.message[1:] + ".",
        f"  guilty   {guilty}  ({verdict.fault_class}; confidence: {verdict.confidence})",
    ]
    if verdict.victims:
        lines.append(f"  victims  {phrases.ranks(verdict.victims)}")
    return lines + [f"  - {sentence}" for sentence in verdict.evidence]

"""`hedgerow explain`: what a failing job's output says, and whom it does not accuse."""

from pathlib import Path

import click
import msgspec

from hedgerow_operator.adapters.dumps.log_file import UnreadableError, read_log
from hedgerow_operator.cli.output import write
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.log.event import LogEvent
from hedgerow_operator.core.attribution.log.explanation import Explanation, explain

_MAX_SHOWN = 12


def show_explanation(file: Path, ranks: int | None, output: str | None) -> None:
    """Print the explanation: one JSON object, or a few lines for people. Raises click.ClickException for bad input."""
    try:
        events, omitted = read_log(file)
    except UnreadableError as error:
        raise click.ClickException(str(error)) from None
    explanation = explain(events, ranks, omitted)
    if output == "json":
        write(msgspec.json.encode(explanation).decode() + "\n")
    else:
        write("\n".join(lines_of(explanation)) + "\n")


def lines_of(explanation: Explanation) -> list[str]:
    """The explanation for people."""
    lines = [explanation.message[:1].upper() + explanation.message[1:] + "."]
    if not explanation.events:
        return lines
    suspects = phrases.ranks(explanation.suspects) if explanation.suspects else "nobody"
    lines.append(f"  suspects  {suspects}  ({explanation.fault_class}; confidence: {explanation.confidence})")
    if explanation.victims:
        lines.append(f"  victims   {phrases.ranks(explanation.victims)}")
    lines += [_line(event) for event in explanation.events[:_MAX_SHOWN]]
    more = len(explanation.events) - _MAX_SHOWN + explanation.omitted
    return [*lines, f"  and {more} more (-o json lists them)"] if more > 0 else lines


def _line(event: LogEvent) -> str:
    who = "" if event.rank is None else f"rank {event.rank}  "
    return f"  line {event.line}: {event.kind}  {who}{event.text}"

"""The table of states as the documentation has it: ``docs/slurm.md``."""

from hedgerow_operator.core.slurm.state_table import GONE, STRANGE, TABLE, Row

_HEAD = "| Slurm shows | it means | the Slurm job … | Hedgerow … |\n|---|---|---|---|"


def markdown() -> str:
    """The table, one line a row, in the order in which the rows count."""
    return "\n".join([_HEAD, *(_line(row) for row in (*TABLE, GONE, STRANGE))])


def _line(row: Row) -> str:
    shown = ", ".join(f"`{name}`" for name in row.names) if row not in (GONE, STRANGE) else row.names[0]
    if row.reasons:
        shown += " with " + ", ".join(f"`{reason}`" for reason in row.reasons)
    more = [row.cause, "paused" if row.paused else "", "for ever" if row.hopeless else ""]
    meaning = ", ".join(word for word in (row.kind.value, *more) if word)
    return f"| {shown} | {meaning} | {_plain(row.says)} | {_plain(row.then)} |"


def _plain(text: str) -> str:
    return text.replace("{id}", "ID")

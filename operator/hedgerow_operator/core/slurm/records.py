"""Tables as Slurm's commands print them for programs: one character ends a field, another one a record."""

from collections.abc import Iterator, Mapping, Sequence

# Characters that no name, comment or reason has ("unit separator" and "record separator").
FIELD_END = "\x1f"
RECORD_END = "\x1e"


def format_of(fields: Sequence[str]) -> str:
    """The value of --Format that prints these fields in this order."""
    ends = [FIELD_END] * (len(fields) - 1) + [RECORD_END]
    return ",".join(f"{name}:{end}" for name, end in zip(fields, ends, strict=True))


def read(text: str, fields: Sequence[str], field_end: str, record_end: str) -> Iterator[Mapping[str, str]]:
    """The records as field to value; one that has too few or too many values keeps the first ones."""
    for record in text.split(record_end):
        if record.strip():
            found = record.lstrip("\n").split(field_end)
            yield {name: found[place].strip() if place < len(found) else "" for place, name in enumerate(fields)}

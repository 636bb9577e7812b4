"""sbatch's options as fields of another interface: the pieces that tables of them are made of."""

from collections.abc import Callable, Mapping
from typing import Any

Put = Callable[[str], dict[str, Any]]
# A job that is not submitted by sbatch gets exactly the environment that it is submitted with.
_WITHOUT_MEANING = frozenset({"export"})


def text(name: str) -> Put:
    """As it is."""
    return lambda value: {name: value}


def count(name: str) -> Put:
    """As a number."""
    return lambda value: {name: int(value)}


def flag(name: str, on: bool = True) -> Put:
    """An option without a value."""
    return lambda value: {name: on}


def fields_of(options: Mapping[str, str], table: Mapping[str, Put], unknown: str) -> dict[str, Any]:
    """All of them. Raises ValueError naming one that is not in the table, or whose value cannot be read.

    unknown: how the sentence about the former begins.
    """
    fields: dict[str, Any] = {}
    for option, value in options.items():
        if option in _WITHOUT_MEANING:
            continue
        put = table.get(option)
        if put is None:
            raise ValueError(f"{unknown} --{option}; take it out, or use the CLI driver")
        try:
            fields.update(put(value))
        except ValueError as error:
            raise ValueError(f"--{option}={value} cannot be sent: {error}") from None
    return fields

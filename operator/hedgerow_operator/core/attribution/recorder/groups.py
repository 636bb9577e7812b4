"""Which process group an entry belongs to, and its members in global ranks."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hedgerow_operator.core.attribution.recorder.dump import Group
from hedgerow_operator.core.attribution.recorder.fields import integer, items, table, text

DEFAULT_GROUP = "default_pg"
_NUMBER = re.compile(r"\d{1,9}")


class Groups:
    """The process groups that one dump speaks of; its pg_config, where it has one, says who is in them."""

    def __init__(self, configuration: object) -> None:
        self._by_name: dict[str, Group] = {}
        self._by_entry: dict[object, Group] = {}
        for name, value in table(configuration).items():
            config = table(value)
            label = text(config.get("name")) or str(name)
            description = text(config.get("desc"))
            self._by_name[label] = _group(label, description, _members(config.get("ranks")))

    def of(self, entry: Mapping[Any, Any]) -> Group | None:
        """The group of an entry; None if the entry does not name one."""
        pair = entry.get("process_group")
        if isinstance(pair, list):
            pair = tuple(pair)
        if not isinstance(pair, tuple) or not all(isinstance(part, str) for part in pair):
            pair = integer(entry.get("pg_id"))
            if pair is None:
                return None
        group = self._by_entry.get(pair)
        if group is None:
            group = self._by_entry[pair] = self._find(pair)
        return group

    def known(self) -> dict[str, Group]:
        """Every group, by key."""
        return {group.key: group for group in (*self._by_name.values(), *self._by_entry.values())}

    def _find(self, pair: tuple[str, ...] | int) -> Group:
        name, description = (*pair, "", "")[:2] if isinstance(pair, tuple) else (str(pair), "")
        return self._by_name.get(name) or _group(name, description, ())


def is_default(group: Group) -> bool:
    """Whether it is the group of all ranks; PyTorch calls it 0 and ``default_pg``."""
    return group.description == DEFAULT_GROUP or (group.name == "0" and not group.description)


def _group(name: str, description: str, members: tuple[int, ...]) -> Group:
    # Two groups of one name and different members are two groups. Without members the name alone has to do.
    return Group(key=_key(name, members), name=name, description=description, members=members)


@lru_cache(maxsize=65536)
def _key(name: str, members: tuple[int, ...]) -> str:
    return f"{name} {','.join(map(str, members))}"


def _members(value: object) -> tuple[int, ...]:
    if isinstance(value, str):
        return _parse(value)
    return tuple(rank for rank in items(value) or () if type(rank) is int and rank >= 0)


@lru_cache(maxsize=65536)
def _parse(ranks: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(ranks)))

"""Who says a line: the prefixes of launchers, of glog and of PyTorch's process groups."""

import re

from msgspec import Struct

from hedgerow.logs.line import split_prefix

# "[rank3]:[E1016 03:31:38.928 ..." also behind something else, as the line numbers of a log viewer.
_GLOBAL = re.compile(r"\[rank(\d{1,6})\]:")
_GROUP = re.compile(
    r"\[(?:PG (?:ID )?(?P<id>\d{1,9}) )?(?:PG GUID [^\s()\]]*(?:\((?P<name>[^)]*)\))? +)?Rank (?P<rank>\d{1,6})\]"
)
# Severity, month and day without a year (E1016, E321: the day has two digits), and the time of day.
_GLOG = re.compile(r"\[[IWEF](\d{1,2})(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)")
DEFAULT_GROUP = "default_pg"


class Speaker(Struct, frozen=True, kw_only=True):
    """rank: global, or None. said_rank: the number in brackets, a rank within the group. local_rank: of torchrun's
    prefix, a number within the node. is_default: speaks for the group of all ranks (None: not told).
    """

    rank: int | None = None
    said_rank: int | None = None
    local_rank: int | None = None
    group: str | None = None
    is_default: bool | None = None
    time: str | None = None

    @property
    def best_rank(self) -> int | None:
        """The global rank, else the number that the line itself gives."""
        return self.said_rank if self.rank is None else self.rank

    @property
    def sure(self) -> bool:
        """Whether :attr:`best_rank` is surely global: numbers in brackets count within the group."""
        return self.rank is not None or (self.said_rank is not None and self.is_default is not False)


def speaker_of(text: str) -> tuple[Speaker, str]:
    """Who says the line, and the line without the prefixes."""
    prefix, words = split_prefix(text)
    rank = prefix.rank
    if rank is None and "[rank" in text and (found := _GLOBAL.search(text)):
        rank = int(found[1])
    glog = _GLOG.search(text) if "[" in text else None
    group = _GROUP.search(text) if "Rank " in text else None
    return (
        Speaker(
            rank=rank,
            said_rank=int(group["rank"]) if group else None,
            local_rank=prefix.local_rank,
            group=(group["name"] or group["id"]) if group else None,
            is_default=_is_default(group) if group else None,
            time=f"{int(glog[1]):02}-{glog[2]}T{glog[3]}" if glog else None,
        ),
        words,
    )


def _is_default(group: re.Match[str]) -> bool | None:
    """The first group that is made is number 0, the group of all ranks. Old lines name no group."""
    if group["id"] is None:
        return None
    return group["name"] == DEFAULT_GROUP or group["id"] == "0"

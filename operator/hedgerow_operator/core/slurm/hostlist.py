"""Slurm's lists of hosts: ``ml-16-node-[001-002,004],ml-17-node-[001-003]`` and the names it stands for."""

import itertools
import re
from collections.abc import Iterable, Iterator

# MAX_SIZE of Slurm's own hostlist: no cluster has more, and a wrong range must not fill the memory.
LONGEST = 65_536
# How Slurm writes that there is no list.
NO_LIST = frozenset({"", "(null)", "None", "None assigned", "N/A"})
_PART = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_NUMBERED = re.compile(r"(.*?)(\d{1,18})")


def expand(text: str) -> tuple[str, ...]:
    """The names of a list, in its order. Raises ValueError for what is no list of hosts, saying why."""
    text = text.strip()
    if text in NO_LIST:
        return ()
    if _BRACKETS.sub("", text).count("[") or _BRACKETS.sub("", text).count("]"):
        raise ValueError(f"{text!r} has a bracket without its other one")
    names = itertools.chain.from_iterable(_expand_part(part) for part in _PART.findall(text))
    found = tuple(itertools.islice(names, LONGEST + 1))
    if len(found) > LONGEST:
        raise ValueError(f"{text[:60]!r} stands for more than {LONGEST} hosts")
    return found


def compress(names: Iterable[str]) -> str:
    """The shortest list that Slurm reads as these names, each once, ordered."""
    groups: dict[tuple[str, int], set[int]] = {}
    plain: list[str] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            plain.append(name)
            continue
        digits = match[2]
        width = len(digits) if digits.startswith("0") and len(digits) > 1 else 0
        groups.setdefault((match[1], width), set()).add(int(digits))
    parts = [_compress_group(prefix, width, numbers) for (prefix, width), numbers in groups.items()]
    return ",".join(sorted({*parts, *plain}))


def _expand_part(part: str) -> Iterator[str]:
    """``a[1-2]b[3,5]`` is a1b3, a1b5, a2b3, a2b5."""
    pieces = _BRACKETS.split(part.strip())
    choices = [[piece] if index % 2 == 0 else list(_numbers(piece)) for index, piece in enumerate(pieces)]
    return ("".join(chosen) for chosen in itertools.product(*choices))


def _numbers(text: str) -> Iterator[str]:
    for item in text.split(","):
        low, dash, high = item.strip().partition("-")
        last = high if dash else low
        if not (low.isdecimal() and last.isdecimal() and len(last) <= 18):
            raise ValueError(f"{item!r} in brackets is neither a number nor a range")
        if int(last) - int(low) >= LONGEST:
            raise ValueError(f"[{item}] stands for more than {LONGEST} hosts")
        yield from (str(number).zfill(len(low)) for number in range(int(low), int(last) + 1))


def _compress_group(prefix: str, width: int, numbers: set[int]) -> str:
    ordered = sorted(numbers)
    runs = [
        [number for _, number in run]
        for _, run in itertools.groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    ]
    written = [f"{run[0]:0{width}}" if len(run) == 1 else f"{run[0]:0{width}}-{run[-1]:0{width}}" for run in runs]
    return f"{prefix}{written[0]}" if len(ordered) == 1 else f"{prefix}[{','.join(written)}]"

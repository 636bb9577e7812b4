"""The command line of ``srun``: where its own options end, and what they say. Pure.

Names and forms: srun(1) of Slurm 22.05 to 25.11, and those of pyxis, the plugin that runs steps in containers. What a
site's other plugins add is told by ``srun --help`` (``learned``).
"""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

NO_VALUE, MAY_HAVE_VALUE, HAS_VALUE = 0, 1, 2


def _names(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


_FLAGS = _names(
    "contiguous consolidate-segments debugger-test disable-status exact external-launcher help hold interactive join "
    "label multi-prog no-allocate no-rotate overcommit overlap oversubscribe preserve-env quiet quit-on-interrupt "
    "reboot share spread-job stepmgr test-only unbuffered usage use-min-nodes verbose version whole "
    "container-mount-home no-container-mount-home container-remap-root no-container-remap-root container-writable "
    "container-readonly container-entrypoint no-container-entrypoint container-entrypoint-log "
    "no-container-entrypoint-log"
)
_MAYBE = _names(
    "bcast compress exclusive get-user-env immediate kill-on-bad-exit nice no-kill oom-kill-step propagate pty "
    "resv-ports send-libs x11"
)
_VALUES = _names(
    "accel-bind account acctg-freq attach autocomplete bb bbf bcast-exclude begin chdir cluster-constraint clusters "
    "comment constraint container container-id core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task "
    "dependency deadline delay-boot distribution epilog error exclude export extra extra-node-info gid gpu-bind "
    "gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint input job-name jobid "
    "launch-cmd launcher-opts licenses mail-type mail-user max-threads mcs-label mem mem-bind mem-per-cpu mem-per-gpu "
    "mincpus mpi msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node "
    "ntasks-per-socket ntasks-per-tres open-mode output pack-group partition power prefer priority profile prolog qos "
    "relative reservation resources segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog "
    "tasks-per-node thread-spec threads threads-per-core time time-min tmp tres-bind tres-per-task treewidth uid wait "
    "wckey "
    "container-image container-mounts container-workdir container-name container-save container-env"
)
_ALL: Dict[str, int] = {
    **dict.fromkeys(_FLAGS, NO_VALUE),
    **dict.fromkeys(_MAYBE, MAY_HAVE_VALUE),
    **dict.fromkeys(_VALUES, HAS_VALUE),
}
# Letter -> long name; how a value follows is told by that.
_LETTERS = {
    "A": "account", "B": "extra-node-info", "b": "begin", "c": "cpus-per-task", "C": "constraint", "d": "dependency",
    "D": "chdir", "e": "error", "E": "preserve-env", "G": "gpus", "h": "help", "H": "hold", "i": "input",
    "I": "immediate", "j": "join", "J": "job-name", "k": "no-kill", "K": "kill-on-bad-exit", "l": "label",
    "L": "licenses", "m": "distribution", "M": "clusters", "n": "ntasks", "N": "nodes", "o": "output",
    "O": "overcommit", "p": "partition", "P": "dependency", "q": "qos", "Q": "quiet", "r": "relative",
    "R": "no-rotate", "s": "oversubscribe", "S": "core-spec", "t": "time", "T": "threads", "u": "unbuffered",
    "v": "verbose", "V": "version", "w": "nodelist", "W": "wait", "x": "exclude", "X": "disable-status",
    "Z": "no-allocate",
}  # fmt: skip
_HELP_LINE = re.compile(r"^\s*(?:-\w,?\s+)?--([\w-]+)(\[=|=|\s|$)")


class Unknown(ValueError):
    """An option of which it is not known whether the next word is its value; the text is its name."""


class Given(NamedTuple):
    """One option. at: the word that it begins in, and words: how many are its own; value: None where it has none."""

    name: str
    value: Optional[str]
    at: int
    words: int = 1


class Line(NamedTuple):
    """options: in order, of srun. program: where the program's words begin; the number of words where there is none."""

    options: Tuple[Given, ...]
    program: int

    def has(self, *names: str) -> bool:
        """Whether one of these is given."""
        return any(option.name in names for option in self.options)

    def last(self, name: str) -> Optional[Given]:
        """The one that counts."""
        return next((option for option in reversed(self.options) if option.name == name), None)


def parse(arguments: Sequence[str], more: Optional[Mapping[str, int]] = None) -> Line:
    """Take the arguments of srun apart, as getopt_long(3) does. more: further names, and how a value follows them.

    Raises Unknown.
    """
    known = dict(more or {}, **_ALL)
    options: List[Given] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return Line(tuple(options), at + 1)
        if not word.startswith("-") or word == "-":
            break
        found = _long(word, at, arguments, known) if word.startswith("--") else _short(word, at, arguments)
        options += found
        at += found[-1].words
    return Line(tuple(options), min(at, len(arguments)))


def learned(help_text: str) -> Dict[str, int]:
    """Names in what ``srun --help`` prints, and how a value follows each."""
    forms = {"=": HAS_VALUE, "[=": MAY_HAVE_VALUE}
    found = (_HELP_LINE.match(line) for line in help_text.splitlines())
    return {match.group(1): forms.get(match.group(2), NO_VALUE) for match in found if match is not None}


def _long(word: str, at: int, arguments: Sequence[str], known: Mapping[str, int]) -> List[Given]:
    written, equals, value = word[2:].partition("=")
    names = [written] if written in known else [name for name in known if name.startswith(written)]
    if equals:
        return [Given(names[0] if len(names) == 1 else written, value, at)]
    if not names or len({known[name] for name in names}) > 1:
        raise Unknown("--" + written)
    name = names[0] if len(names) == 1 else written
    if known[names[0]] == HAS_VALUE:
        return [Given(name, "".join(arguments[at + 1 : at + 2]), at, 2)]
    return [Given(name, None, at)]


def _short(word: str, at: int, arguments: Sequence[str]) -> List[Given]:
    found = []
    for place, letter in enumerate(word[1:], start=1):
        name = _LETTERS.get(letter)
        if name is None:
            raise Unknown("-" + letter)
        rest = word[place + 1 :]
        if _ALL[name] == HAS_VALUE:
            found.append(Given(name, rest or "".join(arguments[at + 1 : at + 2]), at, 1 if rest else 2))
            break
        if _ALL[name] == MAY_HAVE_VALUE:
            found.append(Given(name, rest or None, at))
            break
        found.append(Given(name, None, at))
    return found

"""The command line of sbatch: which options there are, which take a value, and where the script begins. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

NONE, OPTIONAL, REQUIRED = "none", "optional", "required"

# sbatch(1) of 22.05 to 25.11; the last three lines are pyxis' (its README), which sites add to sbatch.
_WITH_VALUE = (
    "account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment constraint container "
    "container-id core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "
    "distribution error exclude export export-file extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
    "gpus-per-socket gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep licenses mail-type "
    "mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile nodelist nodes ntasks "
    "ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition power prefer priority "
    "profile qos reservation segment signal sockets-per-node switches thread-spec threads-per-core time time-min tmp "
    "tres-bind tres-per-task uid wait-all-nodes wckey wrap "
    "container-image container-mounts container-workdir container-name container-save container-env"
)
_WITHOUT_VALUE = (
    "contiguous help hold ignore-pbs no-requeue overcommit oversubscribe parsable quiet reboot requeue spread-job "
    "stepmgr test-only usage use-min-nodes verbose version wait "
    "container-mount-home no-container-mount-home container-remap-root no-container-remap-root container-entrypoint "
    "no-container-entrypoint container-writable container-readonly"
)
_MAYBE_WITH_VALUE = "exclusive get-user-env nice no-kill oom-kill-step propagate resv-ports"
KINDS = {
    **dict.fromkeys(_WITH_VALUE.split(), REQUIRED),
    **dict.fromkeys(_WITHOUT_VALUE.split(), NONE),
    **dict.fromkeys(_MAYBE_WITH_VALUE.split(), OPTIONAL),
}
LETTERS = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold", "h": "help",
    "i": "input", "J": "job-name", "k": "no-kill", "L": "licenses", "M": "clusters", "m": "distribution",
    "N": "nodes", "n": "ntasks", "O": "overcommit", "o": "output", "p": "partition", "Q": "quiet", "q": "qos",
    "S": "core-spec", "s": "oversubscribe", "t": "time", "u": "usage", "V": "version", "v": "verbose", "W": "wait",
    "w": "nodelist", "x": "exclude",
}  # fmt: skip
# Between the components of a heterogeneous job.
HETEROGENEOUS = ":"


class Flag(Struct, frozen=True):
    """One option as it was given. name: the long one, "" where sbatch has none of this name. value: None without one.
    words: what it is written as.
    """

    name: str
    value: str | None
    words: tuple[str, ...]


class CommandLine(Struct, frozen=True):
    """script: None: there is none, so it is read from standard input (or given with --wrap)."""

    flags: tuple[Flag, ...]
    script: str | None = None
    arguments: tuple[str, ...] = ()

    def value(self, name: str) -> str | None:
        """Of the last option of this name; "" for one without value, None: not given."""
        return value_of(self.flags, name)


def parse(words: Sequence[str], more: Mapping[str, str] = MappingProxyType({})) -> CommandLine:
    """As getopt_long reads it: options end at the first word that is none, or at ``--``. Never fails: what sbatch would
    refuse is left for it to refuse. more: long options that are read among them, and their kinds.
    """
    flags, at = [], 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if not word.startswith("-") or word == "-":
            break
        found, taken = _read(word, words[at + 1 : at + 2], more)
        flags += found
        at += taken
    rest = words[at:]
    return CommandLine(tuple(flags), rest[0] if rest else None, tuple(rest[1:]))


def words_of(flags: Iterable[Flag]) -> list[str]:
    """The options as words of a command line."""
    return [word for flag in flags for word in flag.words]


def value_of(flags: Iterable[Flag], name: str) -> str | None:
    """Of the last option of this name; "" for one without value, None: not given."""
    return next((flag.value or "" for flag in reversed(tuple(flags)) if flag.name == name), None)


def without(flags: Iterable[Flag], names: Iterable[str]) -> tuple[Flag, ...]:
    """The options of other names."""
    left_out = frozenset(names)
    return tuple(flag for flag in flags if flag.name not in left_out)


def _read(word: str, following: Sequence[str], more: Mapping[str, str]) -> tuple[list[Flag], int]:
    """The options in one word, and how many words they take."""
    if word.startswith("--"):
        return _read_long(word, following, more)
    return _read_letters(word, following)


def _read_long(word: str, following: Sequence[str], more: Mapping[str, str]) -> tuple[list[Flag], int]:
    given, equals, value = word[2:].partition("=")
    name = given if given in more else full_name(given)
    if equals:
        return [Flag(name, value, (word,))], 1
    if more.get(name, KINDS.get(name)) == REQUIRED and following:
        return [Flag(name, following[0], (word, following[0]))], 2
    return [Flag(name, None, (word,))], 1


def _read_letters(word: str, following: Sequence[str]) -> tuple[list[Flag], int]:
    """Several letters without values may share one word; the first that takes one takes the rest."""
    flags: list[Flag] = []
    for at, letter in enumerate(word[1:], start=1):
        name, rest = LETTERS.get(letter, ""), word[at + 1 :]
        kind = KINDS.get(name, NONE)
        if kind == REQUIRED and not rest and following:
            return [*flags, Flag(name, following[0], (f"-{letter}", following[0]))], 2
        if kind in (REQUIRED, OPTIONAL):
            return [*flags, Flag(name, rest or None, (f"-{letter}{rest}",))], 1
        flags.append(Flag(name, None, (f"-{letter}",)))
    return flags, 1


def full_name(given: str) -> str:
    """Long options may be cut short while they stay unambiguous; "" for what is none."""
    if given in KINDS:
        return given
    fitting = list(_beginning(given))
    return fitting[0] if given and len(fitting) == 1 else ""


def _beginning(given: str) -> Iterator[str]:
    return (name for name in KINDS if name.startswith(given))

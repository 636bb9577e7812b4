"""What is right to read from each labelled message of NCCL or of PyTorch's watchdog."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Right:
    """kind of the first event; who speaks in it, in which collective; suspects in all; ranks: size of the job, if told.

    dump_ranks: the lines are names of dump files of these ranks.
    """

    kind: str = "WatchdogTimeout"
    rank: int | None = None
    seq: int | None = None
    suspects: tuple[int, ...] = ()
    fault_class: str = "Unknown"
    events: int = 1
    ranks: int | None = None
    victims: tuple[int, ...] | None = None
    dump_ranks: tuple[int, ...] = ()


MESSAGES: dict[str, Right] = {
    "n01": Right(rank=1, seq=469508, ranks=8, suspects=(0, 2, 4, 5, 6, 7), events=2),
    "n03": Right(rank=0, seq=316, events=2),
    "n05": Right(rank=5, seq=880),
    "n06": Right(rank=1, seq=6075),
    "n07": Right(rank=1, seq=9141, events=2),
    "n08": Right(rank=0, seq=7753),
    "n09": Right(rank=0, seq=1580, events=2),
    "n10": Right(rank=1, seq=808),
    "n13": Right(rank=2, seq=120049),
    "n16": Right(rank=1, seq=2521),
    "n18": Right("WatchdogStuck", rank=0, events=2),
    "n20": Right("WatchdogStuck", rank=6),
    "n21": Right("WatchdogStuck", rank=2, events=2),
    "n24": Right("DumpSignal", rank=0, seq=1260, victims=(0, 13)),
    "n27": Right("CollectiveMismatch", rank=1, seq=3104, fault_class="Application"),
    "n29": Right("CollectiveMismatch", seq=31117, suspects=(3, 4, 5, 6, 7), victims=(0, 1, 2)),
    "n32": Right("NetworkError", fault_class="Network"),
    "n33": Right("NetworkError", fault_class="Network"),
    "n34": Right("CollectiveMismatch", rank=39, suspects=(39,), fault_class="Application"),
    "n35": Right(rank=0, seq=691),
    "n39": Right(rank=1, seq=4),
    "n40": Right(seq=5),
    "n44": Right(dump_ranks=(5, 40)),
}


def check(found: dict[str, Any], right: Right) -> str:
    """What is wrong with what was read, empty when nothing is."""
    if not found["events"]:
        return "no event was read"
    first = found["events"][0]
    pairs = {
        "kind": (first["kind"], right.kind), "rank": (first["rank"], right.rank), "seq": (first["seq"], right.seq),
        "suspects": (tuple(found["suspects"]), right.suspects), "class": (found["class"], right.fault_class),
        "events": (len(found["events"]), right.events),
    }
    if right.victims is not None:
        pairs["victims"] = (tuple(found["victims"]), right.victims)
    wrong = [f"{name} {said!r} instead of {wanted!r}" for name, (said, wanted) in pairs.items() if said != wanted]
    return ", ".join(wrong)

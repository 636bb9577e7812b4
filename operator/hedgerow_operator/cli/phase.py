"""What the ranks of an attempt do now. Pure."""

from collections import Counter
from collections.abc import Iterable

from hedgerow.wire import RANK_EXITED
from hedgerow_operator.core.seen import Heard


def phase_of(heard: Iterable[Heard], attempt: int) -> str:
    """The phase that most live ranks of the attempt are in; "" when none is heard."""
    phases = Counter(
        rank.phase for entry in heard if entry.report.attempt == attempt
        for rank in entry.report.ranks if rank.state != RANK_EXITED
    )
    return phases.most_common(1)[0][0] if phases else ""

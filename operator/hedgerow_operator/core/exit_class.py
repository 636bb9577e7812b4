"""What kind of fault ended a rank, from the last lines that it printed."""

from hedgerow.wire import RankReport
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.explanation import explain
from hedgerow_operator.core.attribution.log.reader import LogReader
from hedgerow_operator.core.fault_words import FaultKind
from hedgerow_operator.core.faults import fault_of

# A broken connection is a consequence of another's end, which nobody has told of: its class is not known.
_BY_WORDS = {
    FaultKind.APPLICATION: FaultClass.APPLICATION,
    FaultKind.STORAGE: FaultClass.STORAGE,
    FaultKind.DEVICE: FaultClass.HARDWARE,
}
# The end of the tail says why; what comes long before it was lived through.
MOST_LINES = 200


def class_of_exit(report: RankReport) -> FaultClass:
    """By the exception that ended it, else by whatever failure its last lines tell of."""
    told = _BY_WORDS.get(fault_of(report).kind)
    if told is not None:
        return told
    reader = LogReader()
    for number, line in enumerate(report.output_tail[-MOST_LINES:], start=1):
        reader.read(line, number)
    events, omitted = reader.finish()
    return explain(events, None, omitted).fault_class

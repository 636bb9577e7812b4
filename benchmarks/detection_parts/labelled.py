"""Every labelled log, table, dump and message that others made, through the decisions: right or wrong."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from detection_parts import right_logs, right_messages
from hedgerow_operator.adapters.dumps.files import rank_of, read_dumps
from hedgerow_operator.adapters.dumps.log_file import read_log
from hedgerow_operator.core.attribution.log.explanation import explain
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from hedgerow_operator.replay import workers
from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay

DATA = Path(__file__).parents[3] / "shared" / "data"
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Answer:
    """What was found in one case. wrong: what is wrong with it in a few words, empty when it is right."""

    case: str
    what: str
    wrong: str


def answers() -> Iterator[Answer]:
    """Each case in turn; none when the data are not there."""
    for case in _cases("training_log_truth.json"):
        yield _one(case["id"], case["right_action"], lambda case=case: _file(case))
    for name in right_logs.HEALTHY:
        path = DATA / "training_logs" / name
        if path.exists():
            yield _one("healthy", name, lambda path=path: right_logs.nothing(_replay(path), {}))
    for case in _cases("nccl_messages.json"):
        yield _one(case["id"], case["right_answer"], lambda case=case: _message(case))


def _cases(name: str) -> list[dict[str, Any]]:
    path = DATA / "cases" / name
    return json.loads(path.read_text()) if path.exists() else []


def _one(case: str, what: str, look: Callable[[], str]) -> Answer:
    try:
        return Answer(case, what, look())
    except Exception as error:  # noqa: BLE001
        return Answer(case, what, f"{type(error).__name__}: {error}")


def _file(case: dict[str, Any]) -> str:
    path, truth, name = DATA / case["file"], case["truth"], case["id"]
    if path.is_dir():
        return right_logs.dumps(msgspec.to_builtins(judge_dumps(read_dumps(path)[0])), truth)
    if path.suffix == ".csv":
        with path.open() as lines:
            found = workers.as_object(workers.replay_workers(workers.read_samples(lines)))
        return right_logs.WORKERS[name](found, truth)
    if path.suffix == ".prom":
        return right_logs.GAUGES[name](_explained(path, None), truth)
    return right_logs.LOGS[name](_replay(path), truth)


def _replay(path: Path) -> dict[str, Any]:
    replay = TrainingReplay()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            replay.feed(chunk)
    return as_object(replay.finish())


def _explained(path: Path, ranks: int | None) -> dict[str, Any]:
    events, omitted = read_log(path)
    explained: dict[str, Any] = msgspec.to_builtins(explain(events, ranks, omitted))
    return explained


def _message(case: dict[str, Any]) -> str:
    right = right_messages.MESSAGES[case["id"]]
    if right.dump_ranks:
        found = tuple(rank_of(line) for line in case["lines"])
        return "" if found == right.dump_ranks else f"read ranks {found}"
    with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
        file.write("\n".join(case["lines"]) + "\n")
        file.flush()
        return right_messages.check(_explained(Path(file.name), right.ranks), right)

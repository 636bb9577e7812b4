"""`hedgerow attach`: shows jobs that another hedgerow looks after, from the files that it leaves."""

import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import click

from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.lock import holder
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.session_file import Live, read_live
from hedgerow_operator.cli.found_jobs import State, find
from hedgerow_operator.cli.outcome import NOT_ALL_SUCCEEDED, exit_code, is_finished, is_suspended
from hedgerow_operator.cli.output import Output, complain
from hedgerow_operator.cli.tail import Tail
from hedgerow_operator.cli.views.table import Table
from hedgerow_operator.reconcile.ports import JobKey

_LOOK_SECONDS = 0.5
_LINES_BEFORE = 10
# So many of the looks may have shown how it ended.
_SHOWN_LAST = 8


def follow(name: str | None, state_dir: Path) -> int:
    """Show the jobs until they end or Ctrl-C; the exit code. Raises click.ClickException when there are none."""
    state = _asked_for(name, state_dir)
    names = {key_of(found.job) for found in state.jobs if found.pid is not None}
    if not names:
        return _end(state)
    output = Output()
    table = Table(time.time, output.write, wide=False) if sys.stdout.isatty() else None
    told: deque[str] = deque(maxlen=_SHOWN_LAST)

    def show(text: str, jobs: list[Live]) -> None:
        told.append(text)
        _show(table, output, text, jobs)

    try:
        watch(state.paths, names, show)
    except KeyboardInterrupt:
        output.close()
        click.echo()
        complain("left; the jobs go on: hedgerow attach shows them again, hedgerow stop stops them")
        return 0
    output.close()
    return _end(_asked_for(name, state_dir), "".join(told))


def watch(
    paths: StatePaths,
    names: set[JobKey],
    show: Callable[[str, list[Live]], None],
    seconds: float = float("inf"),
) -> bool:
    """Show what happens to these jobs until they are at rest or nobody looks after them; False: after ``seconds`` they
    were not.
    """
    tail, deadline = Tail(paths.news, _LINES_BEFORE), time.monotonic() + seconds
    while True:
        looked_after = holder(paths) is not None
        jobs = [entry for entry in read_live(paths) if key_of(entry.job) in names]
        show(tail.read(), jobs)
        at_rest = len(jobs) == len(names) and all(is_finished(e.job) or is_suspended(e.job) for e in jobs)
        if at_rest or not looked_after:
            show(tail.read(), jobs)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_SECONDS)


def _asked_for(name: str | None, state_dir: Path) -> State:
    state = find(state_dir).named(name)
    return state if name else state.current()


def _show(table: Table | None, output: Output, text: str, jobs: list[Live]) -> None:
    if table is None:
        output.write(text)
        return
    table.scroll(text)
    for entry in jobs:
        table.moved(entry.job, entry.phase)
    table.tick()


def _end(state: State, said: str = "") -> int:
    """Say how the jobs stand, unless it was said; the exit code."""
    for found in state.jobs:
        if (sentence := state.told(found)) not in said:
            click.echo(sentence)
    return (
        NOT_ALL_SUCCEEDED
        if any(found.is_orphaned for found in state.jobs)
        else exit_code(found.job for found in state.jobs)
    )

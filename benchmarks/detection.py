"""How soon trouble is found, whom it is put down to, and how often a healthy job is disturbed.

First every labelled log, dump and message in ../shared/data, when they are there; then generated faults and healthy
habits as streams of reports through the real decisions, on a pretended clock, beside the rules that others use.
SHOWN: two independent evidences, in the condition Stalled; TOLD: an incident with its alert, which is what counts as
detected; ACTED: stopped, to start anew. Seconds count from the last progress. What is not decisive is watched as long
as a restart would cost. The streams are of seeds on which no limit was chosen.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import starmap

from detection_parts.kinds import KINDS, LARGE, SEEDS, tasks
from detection_parts.labelled import answers
from detection_parts.picture import plot
from detection_parts.run import Outcome, run
from detection_parts.stream import Shape
from detection_parts.tables import by_kind, figures, side_by_side

# The aims; LIMIT_SHARE: of max(10 s, 4 usual intervals of the phase).
LEAST_CULPRITS_PERCENT, LIMIT_SHARE, MOST_ALERTS = 95.0, 1.0, 1
_PROGRESS_SECONDS = 10.0


def labelled() -> dict[str, float]:
    """One line for each case that others have labelled."""
    right = wrong = 0
    for answer in answers():
        right, wrong = right + (not answer.wrong), wrong + bool(answer.wrong)
        print(f"  {'wrong' if answer.wrong else 'right'}  {answer.case:16} {answer.what[:80]}", flush=True)
        if answer.wrong:
            print(f"         found: {answer.wrong}")
    print(f"labelled cases: {right} right, {wrong} wrong" if right + wrong else "no labelled data on this machine")
    return {"labelled_right": right, "labelled_wrong": wrong}


def try_one(kind: int, shape: Shape) -> Outcome:
    """One kind by its number: kinds hold functions, which do not travel between processes."""
    outcome = run(KINDS[kind], shape)
    outcome.kind = KINDS[kind].plain()
    return outcome


def generated(quick: bool, seeds: range) -> Sequence[Outcome]:
    """Every kind with every job, over all cores; says how far it is."""
    wanted = [(KINDS.index(kind), shape) for kind, shape in tasks(quick, seeds)]
    cores = os.cpu_count() or 1
    if cores == 1:
        return list(starmap(try_one, wanted))
    outcomes: list[Outcome] = []
    told = time.monotonic()
    with ProcessPoolExecutor(cores) as pool:
        for done in as_completed(pool.submit(try_one, *one) for one in wanted):
            outcomes.append(done.result())
            if time.monotonic() - told > _PROGRESS_SECONDS:
                told = time.monotonic()
                print(f"  {len(outcomes)} of {len(wanted)} streams", flush=True)
    order = [kind.name for kind in KINDS]
    return sorted(outcomes, key=lambda one: (order.index(one.kind.name), one.shape.ranks, one.shape.seed))


def seeds_in(text: str) -> range:
    """``101:104``, or one seed alone."""
    first, _, last = text.partition(":")
    try:
        seeds = range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no range of seeds; write FIRST:LAST, as 101:104") from None
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text} holds no seed: the first is beyond the last")
    return seeds


def aims(found: dict[str, float]) -> list[tuple[str, bool]]:
    """Each aim, and whether it holds."""
    return [
        ("nothing missed", found["missed"] == 0),
        ("no needless restart", found["false_restarts"] == 0),
        ("no alert in a healthy job", found["false_alerts"] == 0),
        ("at most one alert an incident", found["most_alerts_an_incident"] <= MOST_ALERTS),
        ("told within max(10 s, 4 usual intervals) at p95", found["p95_of_limit"] <= LIMIT_SHARE),
        ("right culprit in 95 %", found["right_culprit_percent"] >= LEAST_CULPRITS_PERCENT),
        ("every slow-down and broken number told",
         found["slow_downs_and_numbers_told"] == found["slow_downs_and_numbers"]),
        ("all labelled cases right", found["labelled_wrong"] == 0),
    ]


def main() -> None:
    """Print what was found, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller jobs")
    parser.add_argument("--seeds", type=seeds_in, default=SEEDS, metavar="FIRST:LAST",
                        help=f"default {SEEDS[0]}:{SEEDS[-1]}; jobs of {LARGE} ranks and more are of the first alone")
    parser.add_argument("--plot", metavar="OUT.png", help="draw when people are told, by kind, beside others' rules")
    given = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    found = labelled()
    outcomes = generated(given.quick, given.seeds)
    found |= figures(outcomes)
    print("\n" + by_kind(outcomes))
    print("\n" + side_by_side(outcomes) + "\n")
    for aim, holds in aims(found):
        print(f"{'holds' if holds else 'MISSED'}: {aim}")
    if given.plot:
        plot(outcomes, given.plot)
    print(json.dumps({"name": "detection", "figures": found}))


if __name__ == "__main__":
    main()

"""The default policy beside the fixed and the cutover policy, on requests whose regimes shift.

Seeded generators in the shape of GPUHedge's traces (three providers; quick or cold), each with another trouble that
comes and goes. In every one the adaptive policy is held against the better of the two others, for p95 and for cost;
the intervals are bootstrapped over seeds. Run: python benchmarks/hedging.py [--quick] [--rounds ROUNDS.jsonl]
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

from msgspec import Struct

from hedgerow_operator.replay.hedging.rounds import Course, Round, read_rounds
from hedgerow_operator.replay.hedging.session import CHOICES, Decided, HedgingReplay
from hedgerow_operator.replay.hedging.shown import as_object, quantile

ROUNDS = 400
SEEDS, QUICK_SEEDS = 40, 8
BOOTSTRAPS = 1000
AIM_PERCENT = 5.0
NEVER = 600.0


class Weather(Struct, frozen=True, kw_only=True):
    """How likely each provider is cold or sick in a round, and how long nobody asked before it (seconds)."""

    runpod_cold: float = 0.3
    cerebrium_sick: float = 0.02
    modal_slow: float = 0.15
    gap: float = 200.0


Regime = Callable[[int], Weather]


def steady(number: int) -> Weather:
    """As in the traces when nobody is sick."""
    return Weather()


def backup_goes_sick(number: int) -> Weather:
    """For a quarter of the time Cerebrium takes 100 s for most requests."""
    return Weather(cerebrium_sick=0.8 if 150 <= number < 250 else 0.02)


def primary_goes_sick(number: int) -> Weather:
    """For a quarter of the time RunPod is cold for nearly every request."""
    return Weather(runpod_cold=0.95 if 150 <= number < 250 else 0.3)


def both_go_sick(number: int) -> Weather:
    """Both at once."""
    sick = 150 <= number < 220
    return Weather(runpod_cold=0.9 if sick else 0.3, cerebrium_sick=0.8 if sick else 0.02)


def load_gaps(number: int) -> Weather:
    """Every tenth request comes after 15 minutes, and then RunPod is cold."""
    gap = number % 10 == 0
    return Weather(runpod_cold=0.9 if gap else 0.1, gap=950.0 if gap else 30.0)


def quick_mode_disappears(number: int) -> Weather:
    """From the middle on RunPod has no quick mode any more."""
    return Weather(runpod_cold=1.0 if number >= 200 else 0.2)


REGIMES: tuple[Regime, ...] = (
    steady, backup_goes_sick, primary_goes_sick, both_go_sick, load_gaps, quick_mode_disappears,
)  # fmt: skip


def rounds(regime: Regime, seed: int) -> Iterator[Round]:
    """One course of events."""
    chance = random.Random(seed)
    now = 0.0
    for number in range(1, ROUNDS + 1):
        weather = regime(number)
        now += chance.uniform(0.5, 1.5) * weather.gap
        yield Round(
            number=number,
            began_at=now,
            courses={
                "runpod": runpod(chance, weather),
                "cerebrium": cerebrium(chance, weather),
                "modal": modal(chance, weather),
            },
        )


def runpod(chance: random.Random, weather: Weather) -> Course:
    """Quick: 1.2 s of queue and 3.3 s of work. Cold: 9 to 28 s of queue and 80 to 106 s of work."""
    if chance.random() < weather.runpod_cold:
        queue, work = chance.choice((chance.uniform(8.9, 13.3), chance.uniform(18.9, 27.6))), chance.uniform(80, 106)
    else:
        queue, work = min(1.96, 1.1 + chance.expovariate(12)), chance.uniform(2.8, 4.0)
    return course(queue, work, chance.uniform(1.2, 2.0))


def cerebrium(chance: random.Random, weather: Weather) -> Course:
    """Well: begins after 2.4 to 3.7 s. Sick: after 11 s, and then works for 90 s; one in twenty is refused."""
    if chance.random() >= weather.cerebrium_sick:
        return course(chance.uniform(2.4, 3.7), chance.uniform(15.2, 16.8), 0.0)
    if chance.random() < 0.05:
        return Course(answer_seconds=NEVER, valid=False, refused=True)
    return course(chance.uniform(10.7, 11.6), chance.uniform(84, 93), 0.0)


def modal(chance: random.Random, weather: Weather) -> Course:
    """Shows nothing; 27 to 48 s, or 57 to 112 s."""
    slow = chance.random() < weather.modal_slow
    return Course(answer_seconds=chance.uniform(57, 112) if slow else chance.uniform(27, 48), valid=True)


def course(queue: float, work: float, rest: float) -> Course:
    """One that answers well."""
    return Course(answer_seconds=queue + work + rest, valid=True, queue_seconds=queue, execution_seconds=work)


class Figures(Struct, frozen=True):
    """p95 in seconds, cost in US dollars a request (model A)."""

    p95: float
    cost: float


def figures(decided: list[Decided]) -> Figures:
    """Of one run; what never came counts as NEVER."""
    return Figures(
        quantile([min(one.outcome.latency_seconds, NEVER) for one in decided], 0.95),
        fmean(one.cost.active for one in decided),
    )


def compare(regime: Regime, seeds: range) -> dict[str, object]:
    """The adaptive policy's p95 and cost as a ratio to the better of the two others, with 95 % intervals."""
    runs = {name: [figures(HedgingReplay(CHOICES[name]).all(rounds(regime, seed))) for seed in seeds]
            for name in ("adaptive", "fixed", "cutover")}  # fmt: skip
    found: dict[str, object] = {"regime": regime.__name__}
    for field in ("p95", "cost"):
        values = {name: [getattr(one, field) for one in runs[name]] for name in runs}
        found[field] = {name: round(fmean(values[name]), 4) for name in values}
        low, high = interval(values)
        found[f"{field}Ratio"] = [round(ratio(values, list(range(len(seeds)))), 3), round(low, 3), round(high, 3)]
    return found


def ratio(values: dict[str, list[float]], chosen: list[int]) -> float:
    """Adaptive to the better of the others, each as the mean over the chosen seeds."""
    mean = {name: fmean(values[name][index] for index in chosen) for name in values}
    return mean["adaptive"] / min(mean["fixed"], mean["cutover"])


def interval(values: dict[str, list[float]]) -> tuple[float, float]:
    """The middle 95 % of the ratio when seeds are drawn again."""
    chance = random.Random(0)
    count = len(values["adaptive"])
    drawn = sorted(ratio(values, chance.choices(range(count), k=count)) for _ in range(BOOTSTRAPS))
    return drawn[round(0.025 * BOOTSTRAPS)], drawn[round(0.975 * BOOTSTRAPS) - 1]


def recorded(path: Path) -> dict[str, object]:
    """The policies on recorded rounds, all of them and from the 19th on."""
    with path.open("rb") as lines:
        known = list(read_rounds(lines))
    found: dict[str, object] = {}
    for name, choice in CHOICES.items():
        decided = HedgingReplay(choice).all(known)
        for label, first in (("all", 0), ("from19", 19)):
            shown = as_object([one for one in decided if one.round.number >= first])
            found[f"{name}.{label}"] = [shown["p95"], shown["misses"], round(shown["costActive"], 4)]
    return found


def main() -> None:
    """Print a line for each regime, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--rounds", type=Path, help="recorded rounds, as hedgerow replay hedging reads them")
    options = parser.parse_args()
    seeds = range(QUICK_SEEDS if options.quick else SEEDS)
    compared = []
    for regime in REGIMES:
        compared.append(compare(regime, seeds))
        print(json.dumps(compared[-1]), flush=True)
    worst = {field: max(one[f"{field}Ratio"][0] for one in compared) for field in ("p95", "cost")}  # type: ignore[index]
    result = {"worstP95Ratio": worst["p95"], "worstCostRatio": worst["cost"], "aimRatio": 1 + AIM_PERCENT / 100}
    if options.rounds is not None:
        result["recorded"] = recorded(options.rounds)
    print(json.dumps({"name": "hedging", "figures": result}))


if __name__ == "__main__":
    main()

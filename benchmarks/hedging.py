"""The default policy beside the fixed and the cutover policy, on requests whose regimes shift.

Seeded worlds: some in the shape of GPUHedge's traces (hedging_parts/traces.py), others in shapes that the policy was
not made on (hedging_parts/others.py). In every one the adaptive policy is held against the better of the two others,
for p95 and for cost. Run: python benchmarks/hedging.py [--quick] [--world NAME ...] [--rounds ROUNDS.jsonl]
"""

import argparse
import json
from pathlib import Path
from statistics import fmean

from hedging_parts import others, traces
from hedging_parts.comparing import FIELDS, Ratio, played, ratio
from hedging_parts.worlds import World

from hedgerow_operator.replay.hedging.rounds import read_rounds
from hedgerow_operator.replay.hedging.session import CHOICES, HedgingReplay
from hedgerow_operator.replay.hedging.shown import as_object

SEEDS, QUICK_SEEDS = 40, 8
AIM_RATIO = 1.05
WORLDS = {world.name: world for world in (*traces.WORLDS, *others.WORLDS)}


def compare(world: World, seeds: range) -> dict[str, Ratio]:
    """By figure; prints them."""
    runs = played(world, seeds)
    found = {field: ratio(runs, field, AIM_RATIO) for field in FIELDS}
    told: dict[str, object] = {"world": world.name, "seeds": len(seeds)}
    for field, one in found.items():
        told[field] = {name: round(fmean(getattr(each, field) for each in runs[name]), 4) for name in runs}
        told[f"{field}Ratio"] = [round(one.value, 3), round(one.low, 3), round(one.high, 3)]
        told[f"{field}WorseSeeds"] = one.worse
    print(json.dumps(told), flush=True)
    return found


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
    """Print a line for each world, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds")
    parser.add_argument("--world", action="append", choices=WORLDS, help="only this one; may be repeated")
    parser.add_argument("--rounds", type=Path, help="recorded rounds, as hedgerow replay hedging reads them")
    options = parser.parse_args()
    seeds = range(QUICK_SEEDS if options.quick else SEEDS)
    compared = [compare(WORLDS[name], seeds) for name in options.world or WORLDS]
    result: dict[str, object] = {"worlds": len(compared), "aimRatio": AIM_RATIO}
    for field, figure in zip(FIELDS, ("P95", "Cost"), strict=True):
        result[f"worst{figure}Ratio"] = round(max(one[field].value for one in compared), 3)
        result[f"worst{figure}RatioHigh"] = round(max(one[field].high for one in compared), 3)
        result[f"worldsWithin{figure}Aim"] = sum(one[field].value <= AIM_RATIO for one in compared)
    if options.rounds is not None:
        result["recorded"] = recorded(options.rounds)
    print(json.dumps({"name": "hedging", "figures": result}))


if __name__ == "__main__":
    main()

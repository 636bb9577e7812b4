"""On a machine with an NVIDIA GPU: the node agent over the real driver, and what tells waiting from work.

    python tests/gpu/run.py            # on a bare machine with torch and nvidia-ml-py; also `make test-gpu`

Prints a report, and as its last line JSON. Exit code 0: all that could be run passed, 1: something failed, 2: there is
no GPU here. A part that needs more GPUs than there are says "not run": that is no pass.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2] / "agent")]

import agent_process  # noqa: E402
import standstill  # noqa: E402
import values  # noqa: E402
import whose  # noqa: E402

Part = Callable[[str, list[dict[str, Any]]], tuple[list[str], dict[str, Any]]]
PARTS: dict[str, Part] = {
    "every value of every GPU through every check": values.part,
    "whose process computes on which GPU": whose.part,
    "one rank hangs while the others wait in a collective": standstill.part,
}


def main() -> int:
    """Run every part, also after one has failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch (default: this one)")
    python = parser.parse_args().python
    report = agent_process.once()
    trouble = report["driver"].get("trouble")
    if trouble or not report.get("gpus"):
        print(f"there is no GPU to test here: {trouble or 'the driver lists none'}")
        return 2
    print(f"driver {report['driver']['version']}, {len(report['gpus'])} x {report['gpus'][0].get('name')}")
    outcomes: dict[str, Any] = {}
    for name, part in PARTS.items():
        outcomes[name] = _run(name, part, python, report["gpus"])
    print(json.dumps({"name": "gpu", "outcomes": outcomes}))
    return int(any(one["outcome"] == "failed" for one in outcomes.values()))


def _run(name: str, part: Part, python: str, gpus: list[dict[str, Any]]) -> dict[str, Any]:
    print(f"\n{name}")
    try:
        lines, figures = part(python, gpus)
    except AssertionError as error:
        print(f"  FAILED: {error}")
        return {"outcome": "failed", "why": str(error)}
    except agent_process.NotPossible as error:
        print(f"  not run: {error}")
        return {"outcome": "not run", "why": str(error)}
    print("\n".join(f"  {line}" for line in lines))
    return {"outcome": "passed", **figures}


if __name__ == "__main__":
    sys.exit(main())

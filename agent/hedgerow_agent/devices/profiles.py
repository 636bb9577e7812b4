"""What real GPUs once said: a profile for each kind, made from real outputs of nvidia-smi.

a100-mig, a10g, t4, rtx-4000-ada and gtx-1070-ti are whole outputs of `nvidia-smi -q -x` (driver versions 515 to 595).
a100 is the same A100 with MIG off, which then tells its utilisation, and the links of an A100 host.
"""

import json
from importlib import resources
from typing import Any


def names() -> list[str]:
    """Every profile there is."""
    folder = resources.files(__package__) / "profiles"
    return sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))


def profile(name: str) -> dict[str, Any]:
    """name, driver, values, throttle_reasons, instances of this kind of GPU; ValueError names those that there are."""
    if name not in names():
        raise ValueError(f"no profile is called {name!r}; there are {', '.join(names())}")
    found: dict[str, Any] = json.loads((resources.files(__package__) / "profiles" / f"{name}.json").read_text())
    return found

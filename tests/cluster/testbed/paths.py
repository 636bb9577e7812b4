"""Where things are: the repository, and what is kept outside it between runs."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
GO_MODULES = Path(__file__).resolve().parent / "go"


def cache() -> Path:
    """The folder for what is expensive to make: $HEDGEROW_CACHE, else ~/.cache/hedgerow. Made when missing."""
    folder = Path(os.environ.get("HEDGEROW_CACHE") or "~/.cache/hedgerow").expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder

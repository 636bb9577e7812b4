"""Writes checkpoint files: whole ones, and torn ones."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path


def archive(payload: bytes = b"weights" * 50) -> bytes:
    """A zip archive, as torch.save and numpy.savez write it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as file:
        file.writestr("archive/data.pkl", b"\x80\x02.")
        file.writestr("archive/data/0", payload)
    return stream.getvalue()


def safetensors(payload: bytes = b"w" * 400) -> bytes:
    """A safetensors file with one tensor."""
    header = json.dumps({"w": {"dtype": "U8", "shape": [len(payload)], "data_offsets": [0, len(payload)]}}).encode()
    return struct.pack("<Q", len(header)) + header + payload


def torn(data: bytes) -> bytes:
    """The first 60 % of it: a writer that was killed."""
    return data[: len(data) * 6 // 10]


LEGACY_PICKLE = b"\x80\x02}q\x00."
GOOD = {".safetensors": safetensors(), ".json": b'{"global_step": 1}'}


def content(name: str) -> bytes:
    """Whole content that fits a name."""
    return next((data for suffix, data in GOOD.items() if name.endswith(suffix)), archive())


def write_tree(folder: Path, files: dict[str, bytes]) -> None:
    """Write ``files`` (relative path -> content; a path that ends in / is an empty folder)."""
    for name, data in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

"""Checkpoints in the safetensors format: 8 bytes of header length, a JSON header, raw numbers."""

import json
import os
import struct


def save(directory, step, parameters, torn=False):
    """Write step-NNNNNN.safetensors whole (beside, then renamed), or torn: half of it, under its final name."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, f"step-{step:06d}.safetensors")
    data = _encode(step, parameters)
    if torn:
        with open(path, "wb") as file:
            file.write(data[: len(data) // 2])
        return path
    with open(path + ".tmp", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".tmp", path)
    return path


def load(path):
    """(step, parameters) of a whole checkpoint."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length).decode())
        data = file.read()
    count = header["parameters"]["shape"][0]
    return int(header["__metadata__"]["step"]), list(struct.unpack(f"<{count}d", data[: 8 * count]))


def _encode(step, parameters):
    data = struct.pack(f"<{len(parameters)}d", *parameters)
    tensor = {"dtype": "F64", "shape": [len(parameters)], "data_offsets": [0, len(data)]}
    header = json.dumps({"__metadata__": {"step": str(step)}, "parameters": tensor}).encode()
    return struct.pack("<Q", len(header)) + header + data

"""Numbers as training output writes them."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Optional

from hedgerow.logs import observation as names

NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|NaN|inf|Infinity)"
# `key: 1.5`, `key = 1.5`, `'key': '1.5'`, `key : 71.5 ms`; the key may hold blanks, dots and brackets.
_PAIR = re.compile(
    r"[\"']?([A-Za-z_][A-Za-z0-9_./ ()-]*?)[\"']?\s*[:=]\s*[\[\"']*(" + NUMBER + r")\s*"
    r"(ms\b|seconds\b|s\b|GiB\b|MiB\b|GB\b|MB\b|%)?"
)
_UNITS = {"GiB": 2.0**30, "MiB": 2.0**20, "GB": 1e9, "MB": 1e6}
_MEMORY_UNITS = ("GiB", "MiB", "GB", "MB")
_NAMES = {
    names.LOSS: ("loss", "lm loss", "train_loss", "train loss", "reduced_train_loss", "training_loss", "total_loss"),
    names.GRAD_NORM: ("grad_norm", "grad norm", "gnorm", "gradient_norm", "total_norm"),
    names.LEARNING_RATE: ("learning_rate", "learning rate", "lr"),
    names.TOKENS_PER_SECOND: ("tokens_per_second", "tps", "tokens/s", "tok/s", "tokens/sec", "tokens per second",
                              "tokens_per_sec"),
    names.SAMPLES_PER_SECOND: ("samples per second", "samples/sec", "samples_per_second", "throughput",
                               "currsamplespersec"),
    names.MEMORY_BYTES: ("memory_bytes", "memory", "mem", "memallocated", "max_memory_usage"),
    names.STEP_SECONDS: ("step_seconds", "step_time", "time", "iter_time", "iteration_time", "iter time (s)", "dt",
                         "elapsed time per iteration (s)", "elapsed time per iteration (ms)", "train_step_time",
                         "train_step_timing in s", "time/iter", "step time", "elapsed"),
    names.BATCH_SIZE: ("batch_size", "global batch size", "global_batch_size"),
    names.SEQUENCE_LENGTH: ("sequence_length", "seq_len", "seqlen", "sequence length", "curriculum seqlen"),
    names.SAMPLES: ("samples", "consumed samples", "consumed_samples", "samples_count", "consumed_train_samples"),
    names.NAN_STEPS: ("number of nan iterations",),
}
_KNOWN = {key: name for name, keys in _NAMES.items() for key in keys}


def number(text: str) -> float:
    """A number as written, thousands separators and NaN included."""
    return float(text.replace(",", ""))


def whole(value: Any) -> Optional[int]:
    """A count, None for anything else (booleans, NaN, fractions, lists)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not (value == value and abs(value) < 2.0**53 and value == int(value)):
        return None
    return int(value) if abs(value) < 2**53 else None


def values_in(text: str) -> Dict[str, float]:
    """Every value of a known name in ``text``; the first of each name counts."""
    found: Dict[str, float] = {}
    for match in _PAIR.finditer(text):
        key = match.group(1).strip().lower()
        name = _KNOWN.get(key)
        if name and name not in found:
            found[name] = _scaled(name, key, number(match.group(2)), match.group(3) or "")
    return found


def values_of(fields: Mapping[str, Any]) -> Dict[str, float]:
    """The values of known names among the fields of an object; text that is a number counts as one."""
    found: Dict[str, float] = {}
    for key, value in fields.items():
        name = _KNOWN.get(str(key).strip().lower())
        amount = _amount(value)
        if name and amount is not None and name not in found:
            found[name] = _scaled(name, str(key), amount, "")
    return found


def _amount(value: Any) -> Optional[float]:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, str)):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None


def _scaled(name: str, key: str, amount: float, unit: str) -> float:
    if name == names.STEP_SECONDS and (unit == "ms" or key.endswith("(ms)")):
        return amount / 1000.0
    if name == names.MEMORY_BYTES and unit in _MEMORY_UNITS:
        return amount * _UNITS[unit]
    return amount

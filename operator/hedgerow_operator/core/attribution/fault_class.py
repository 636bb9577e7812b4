"""The kinds of fault that a failure is put down to, and how sure that is."""

from enum import StrEnum


class FaultClass(StrEnum):
    """APPLICATION: the training program. SCHEDULER: ended from outside, on purpose. UNKNOWN: not told."""

    APPLICATION = "Application"
    HARDWARE = "Hardware"
    NETWORK = "Network"
    STORAGE = "Storage"
    SCHEDULER = "Scheduler"
    UNKNOWN = "Unknown"


class Confidence(StrEnum):
    """CERTAIN: said in so many words. LIKELY: follows from it. SUSPECTED: a place to look. NONE: not told."""

    CERTAIN = "certain"
    LIKELY = "likely"
    SUSPECTED = "suspected"
    NONE = "none"

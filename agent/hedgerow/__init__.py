"""The rank library: ``hedgerow.beat(step=…, phase=…)`` tells the launcher that this rank made progress."""

from hedgerow.heartbeat import attempt, beat, resume_from

__all__ = ["attempt", "beat", "resume_from"]

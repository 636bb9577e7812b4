"""The rank library: ``hedgerow.beat(step=…, phase=…)`` tells the launcher that this rank made progress."""

from hedgerow.heartbeat import attempt, beat, note, resume_from

__all__ = ["attempt", "beat", "note", "resume_from"]

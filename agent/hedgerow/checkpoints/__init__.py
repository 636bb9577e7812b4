"""Checkpoint readers: which candidates a directory holds, and which of them are complete."""

from hedgerow.checkpoints.reader import Reader
from hedgerow.checkpoints.summary import describe, scan

__all__ = ["Reader", "describe", "scan"]

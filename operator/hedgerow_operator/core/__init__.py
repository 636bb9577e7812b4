"""Decisions: pure functions of frozen structs and ``now``. No clock, no loop, no random, no SDK."""

"""Streaming readers of training output: what the lines of every usual trainer say of progress, and how a run ends."""

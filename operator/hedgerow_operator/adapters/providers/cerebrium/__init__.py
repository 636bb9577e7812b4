"""Cerebrium: a call that answers when all is done; runs are ended by another API (docs.cerebrium.ai)."""

"""Imitates torch.nn."""

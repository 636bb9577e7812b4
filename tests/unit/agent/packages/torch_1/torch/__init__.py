"""Stands in for torch in tests of the optimizer hook."""

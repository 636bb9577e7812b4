"""Imitates the package lightning."""

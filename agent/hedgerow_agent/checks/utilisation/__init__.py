"""Utilisation and memory."""

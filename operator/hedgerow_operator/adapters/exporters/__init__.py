"""Asks dcgm-exporters."""

"""Clocks and why they are held down."""

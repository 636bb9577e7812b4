"""Stands in for pyslurm, whose releases fit no Slurm of a Debian release: its exact shapes, over Slurm's commands."""

"""Slurm: its commands, its REST interface and pyslurm behind one Protocol."""

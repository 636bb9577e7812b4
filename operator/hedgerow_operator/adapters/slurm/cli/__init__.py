"""Slurm by its own commands: sbatch, squeue, sacct, scontrol, scancel, sinfo."""

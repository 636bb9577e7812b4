"""The batch job of a placement on Slurm."""

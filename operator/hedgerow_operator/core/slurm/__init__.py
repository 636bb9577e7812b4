"""What Slurm shows of jobs and nodes, and what that means for a training job."""

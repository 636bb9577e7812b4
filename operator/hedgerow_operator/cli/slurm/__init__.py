"""`hedgerow sbatch`: submits a script as sbatch does, with a supervisor around it."""

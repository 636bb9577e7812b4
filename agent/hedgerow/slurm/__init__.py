"""What the launcher does under ``srun``, and what stands in place of ``srun`` in a job that is supervised."""

"""slurmrestd as a driver."""

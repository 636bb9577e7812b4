"""Any HTTP API of jobs, as its user has declared it."""

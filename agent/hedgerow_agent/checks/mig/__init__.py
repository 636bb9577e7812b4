"""GPUs cut into instances."""

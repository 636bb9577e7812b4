"""Who computes on the GPU."""

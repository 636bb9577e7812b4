"""Where readings of GPUs come from: NVML, or a script that plays them."""

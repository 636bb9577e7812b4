"""What is decided about nodes with GPUs: healthy, degraded, not to be used, or not to be seen."""

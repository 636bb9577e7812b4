"""What NVIDIA's dcgm-exporter says of a node's GPUs, as if our own agent had said it."""

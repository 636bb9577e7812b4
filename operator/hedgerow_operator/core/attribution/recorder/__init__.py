"""Flight-recorder dumps of PyTorch's NCCL backend: from plain values to guilty ranks and victims."""

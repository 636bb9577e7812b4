"""What the kernel says: its log read from wherever it can be, and the messages in it that concern GPUs."""

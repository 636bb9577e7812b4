"""Flight-recorder dumps in files: found, read without trust, and handed over as plain values."""

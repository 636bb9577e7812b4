"""A provider without GPUs: takes as long as a seed or recorded rounds say, and misbehaves when told to."""

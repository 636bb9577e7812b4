"""The parts of benchmarks/detection.py; not run by themselves."""

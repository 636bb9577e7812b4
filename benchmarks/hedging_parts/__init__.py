"""What benchmarks/hedging.py plays, and how it compares."""

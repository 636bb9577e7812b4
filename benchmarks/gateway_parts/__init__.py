"""Parts of benchmarks/gateway.py: the servers that are asked, and who asks them."""

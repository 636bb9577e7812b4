"""Lambda Cloud: machines of ours, each with our agent in front (examples/providers/worker_server.py)."""

"""Lambda Cloud: machines of ours, each with our agent in front (examples/worker_server.py)."""

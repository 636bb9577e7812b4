"""RunPod: its queue, its load balancer, and the knob for warm workers (docs.runpod.io, OpenAPI v2)."""

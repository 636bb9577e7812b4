"""Vast.ai serverless: a router names a worker and signs for it; the worker is asked itself (docs.vast.ai)."""

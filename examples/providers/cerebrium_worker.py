"""The function of a Cerebrium app that tells Hedgerow when it begins: a ServerlessProvider with beacon: true.

What is yielded is streamed as server-sent events, so the beacon arrives while the model still loads or computes.
"""

import json
import time

MODEL = None


def load():
    """Your model."""
    return lambda prompt: f"an answer to {prompt}"


def run(prompt: str):
    """Two events: that it has begun, and the result."""
    global MODEL
    yield json.dumps({"hedgerow": "started"})
    began = time.monotonic()
    MODEL = MODEL or load()
    result = MODEL(prompt)
    yield json.dumps({"hedgerow": "result", "result": result, "run_time_ms": round((time.monotonic() - began) * 1000)})

"""Objects that tests of endpoints begin with."""

from hedgerow_operator.api.serverless_provider import serverless_provider

PROVIDER = serverless_provider({"metadata": {"name": "pa", "generation": 2}, "spec": {"type": "Simulated"}})

"""What the runpod package says of an endpoint, as a JSON object. Run: python runpod_client.py BASE_URL ENDPOINT KEY."""

import json
import sys

import runpod

runpod.api_key = sys.argv[3]
runpod.endpoint_url_base = sys.argv[1]
endpoint = runpod.Endpoint(sys.argv[2])
found = {}
found["sync"] = endpoint.run_sync({"input": {"n": 1}}, timeout=120)
job = endpoint.run({"input": {"n": 2}})
found["output"] = job.output(timeout=120)
found["status"] = job.status()
found["stream"] = list(endpoint.run({"input": {"n": 3}}).stream())
slow = endpoint.run({"input": {"slow": True}})
found["cancelled"] = slow.cancel()["status"]
found["health"] = sorted(endpoint.health())
found["purged"] = endpoint.purge_queue()["status"]
print(json.dumps(found))

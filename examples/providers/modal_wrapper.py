"""Hedgerow's wrapper on Modal: deploy it beside your function, and give its URL to a ServerlessProvider of type Modal.

    APP=my-app FUNCTION=generate modal deploy modal_wrapper.py

In your function, the first line tells that it has begun, which is how a cold container is told from a slow answer:

    modal.Dict.from_name("hedgerow-started", create_if_missing=True).put(modal.current_function_call_id(), time.time())
"""

import os
import time

import modal

app = modal.App("hedgerow-wrapper")
image = (
    modal.Image.debian_slim()
    .pip_install("fastapi[standard]")
    .env({"APP": os.environ.get("APP", ""), "FUNCTION": os.environ.get("FUNCTION", "")})
)
# When each call was taken, and when it began.
taken = modal.Dict.from_name("hedgerow-taken", create_if_missing=True)
started = modal.Dict.from_name("hedgerow-started", create_if_missing=True)
cancelled = modal.Dict.from_name("hedgerow-cancelled", create_if_missing=True)


def times(call_id: str) -> dict:
    """queue_ms and execution_ms, as far as they are known."""
    began, now = started.get(call_id), time.time()
    if began is None:
        return {}
    shown = {"execution_ms": round((now - began) * 1000)}
    if taken.get(call_id) is not None:
        shown["queue_ms"] = max(0, round((began - taken.get(call_id)) * 1000))
    return shown


def looked(call_id: str) -> tuple:
    """The HTTP status and what is shown of a call."""
    try:
        output = modal.FunctionCall.from_id(call_id).get(timeout=0)
    except (modal.exception.OutputExpiredError, modal.exception.NotFoundError):
        return 404, {"state": "unknown"}
    except modal.exception.FunctionTimeoutError:
        return 200, {"state": "failed", "error": "the function took longer than its timeout"}
    except TimeoutError:
        return 202, {"state": "running" if started.get(call_id) is not None else "unknown"}
    except Exception as error:  # noqa: BLE001  (whatever your function raises)
        state = "cancelled" if cancelled.get(call_id) else "failed"
        return 200, {"state": state, "error": f"{type(error).__name__}: {error}"[:500]}
    return 200, {"state": "done", "output": output}


@app.function(image=image, min_containers=1)
@modal.concurrent(max_inputs=100)
@modal.asgi_app(requires_proxy_auth=True)
def wrapper():
    """The API that examples/providers/README.md describes."""
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

    web = FastAPI()
    function = modal.Function.from_name(os.environ["APP"], os.environ["FUNCTION"])

    @web.post("/submit")
    async def submit(request: Request):
        body = await request.json()
        call = await function.spawn.aio(body["input"])
        await taken.put.aio(call.object_id, time.time())
        return {"call_id": call.object_id}

    @web.get("/result/{call_id}")
    def result(call_id: str):
        status, shown = looked(call_id)
        return JSONResponse({**shown, **times(call_id)}, status_code=status)

    @web.post("/cancel/{call_id}")
    def cancel(call_id: str):
        cancelled.put(call_id, True)
        # Ends the input; the container stays until its scaledown window is over.
        modal.FunctionCall.from_id(call_id).cancel()
        return {}

    @web.get("/stats")
    def stats():
        now = function.get_current_stats()
        return {
            "backlog": now.backlog,
            "runners": now.num_total_runners,
            "running": getattr(now, "num_running_inputs", None),
            "headroom": getattr(now, "input_headroom", None),
        }

    @web.post("/autoscaler")
    async def autoscaler(request: Request):
        body = await request.json()
        await function.update_autoscaler.aio(min_containers=int(body["min_containers"]))
        return {}

    return web

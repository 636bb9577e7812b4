"""Hedgerow's agent on a machine of your own: one job at a time, with the standard library only.

    AGENT_TOKEN=… python worker_server.py my_model:generate --port 8000

`generate(input, cancelled)` returns what can be written as JSON; `cancelled` is a threading.Event that it should
look at between two steps. A job that does not is shown as running until it has ended: nothing else would be true.
"""

import argparse
import hmac
import importlib
import json
import os
import queue
import sys
import threading
import time
import uuid
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEPT_RESULTS = 1000
MOST_BYTES = 64 << 20


class Job:
    """One submission."""

    def __init__(self, given):
        self.id, self.given, self.state = uuid.uuid4().hex, given, "queued"
        self.cancelled, self.output, self.error = threading.Event(), None, ""
        self.taken, self.began, self.ended = time.monotonic(), None, None

    def shown(self):
        """As GET /result answers it."""
        began, ended = self.began or time.monotonic(), self.ended or time.monotonic()
        shown = {"state": self.state, "queue_ms": round((began - self.taken) * 1000)}
        if self.began is not None:
            shown["execution_ms"] = round((ended - self.began) * 1000)
        if self.state == "done":
            shown["output"] = self.output
        if self.state == "failed":
            shown["error"] = self.error
        return shown


class Jobs:
    """All of them; a thread works through those that wait."""

    def __init__(self, work):
        self.work, self.waiting, self.known, self.lock = work, queue.Queue(), OrderedDict(), threading.Lock()
        threading.Thread(target=self.run, daemon=True).start()

    def submit(self, given):
        """One more."""
        job = Job(given)
        with self.lock:
            self.known[job.id] = job
            ended = [one.id for one in self.known.values() if one.ended is not None]
            for old in ended[: max(0, len(self.known) - KEPT_RESULTS)]:
                del self.known[old]
        self.waiting.put(job)
        return job

    def cancel(self, job):
        """At once while it waits; otherwise when it looks."""
        job.cancelled.set()
        with self.lock:
            if job.state == "queued":
                job.state, job.ended = "cancelled", time.monotonic()

    def stats(self):
        """As GET /stats answers it."""
        states = [job.state for job in list(self.known.values())]
        running = states.count("running")
        return {"backlog": states.count("queued"), "runners": 1, "running": running, "headroom": 1 - running}

    def run(self):
        """For ever."""
        while True:
            job = self.waiting.get()
            with self.lock:
                if job.state == "cancelled":
                    continue
                job.state, job.began = "running", time.monotonic()
            try:
                job.output = self.work(job.given, job.cancelled)
                json.dumps(job.output)
                state = "cancelled" if job.cancelled.is_set() else "done"
            except Exception as error:  # noqa: BLE001  (whatever the function raises)
                state = "cancelled" if job.cancelled.is_set() else "failed"
                job.error = f"{type(error).__name__}: {error}"[:500]
            job.ended, job.state = time.monotonic(), state


class Handler(BaseHTTPRequestHandler):
    """The API that README.md describes."""

    protocol_version = "HTTP/1.1"
    jobs, token = None, ""

    def do_GET(self):
        """/stats and /result/ID."""
        if not self.trusted():
            return
        job = self.jobs.known.get(self.path.removeprefix("/result/"))
        if self.path == "/stats":
            self.answer(200, self.jobs.stats())
        elif job is None:
            self.answer(404, {"error": "no such job"})
        else:
            shown = job.shown()
            self.answer(202 if shown["state"] in ("queued", "running") else 200, shown)

    def do_POST(self):
        """/submit and /cancel/ID."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            self.answer(413, {"error": f"more than {MOST_BYTES} bytes"})
            return
        body = self.rfile.read(length)
        if not self.trusted():
            return
        job = self.jobs.known.get(self.path.removeprefix("/cancel/"))
        if self.path == "/submit":
            self.submit(body)
        elif job is None:
            self.answer(404, {"error": "no such job"})
        else:
            self.jobs.cancel(job)
            self.answer(200, {})

    def submit(self, body):
        """Takes a job."""
        try:
            given = json.loads(body)["input"]
        except (ValueError, KeyError, TypeError):
            self.answer(400, {"error": 'send {"input": …} as JSON'})
            return
        self.answer(200, {"call_id": self.jobs.submit(given).id})

    def trusted(self):
        """Whether the token is the right one; answers if not."""
        given = self.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            return True
        self.answer(401, {"error": "the agent token is not the right one"})
        return False

    def answer(self, status, body):
        """As JSON."""
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_args):
        """Looks come twice a second."""


def main():
    """Serves until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("function", help="MODULE:FUNCTION that does the work")
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if not os.environ.get("AGENT_TOKEN"):
        sys.exit("set AGENT_TOKEN to the secret that the gateway sends (agentToken in its Secret)")
    sys.path.insert(0, os.getcwd())
    module, _colon, name = options.function.partition(":")
    Handler.token = os.environ["AGENT_TOKEN"]
    Handler.jobs = Jobs(getattr(importlib.import_module(module), name))
    server = ThreadingHTTPServer((options.host, options.port), Handler)
    print(f"serving on port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

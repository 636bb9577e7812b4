"""One sentence about what an endpoint has done. Pure."""

from __future__ import annotations

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint


def summary(endpoint: InferenceEndpoint) -> str:
    """For people, at the end of a run."""
    name, status = f"{endpoint.metadata.namespace}/{endpoint.metadata.name}", endpoint.status
    if not status.requests:
        return f"{name} was asked nothing"
    parts = [f"{name} answered {status.requests} request{'s' if status.requests != 1 else ''}"]
    if status.p50_millis is not None and status.p95_millis is not None:
        parts.append(f"p50 {status.p50_millis / 1000:.2f} s, p95 {status.p95_millis / 1000:.2f} s")
    if status.hedged_percent is not None:
        parts.append(f"{status.hedged_percent} % hedged, {status.hedge_wins} won by another attempt than the first")
    if status.spend is not None:
        parts.append(f"${status.spend.day_usd} spent")
    if status.leaked:
        parts.append(f"{status.leaked} given up attempts without a proven end (hedgerow receipts)")
    return "; ".join(parts)

"""One sentence about what an endpoint has done. Pure."""

from __future__ import annotations

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint


def summary(endpoint: InferenceEndpoint, held_usd: float = 0.0) -> str:
    """For people, at the end of a run. held_usd: the part of its spend that is held, not spent."""
    name, status = f"{endpoint.metadata.namespace}/{endpoint.metadata.name}", endpoint.status
    if not status.requests:
        return f"{name} was asked nothing"
    parts = [f"{name} answered {status.requests} request{'s' if status.requests != 1 else ''}"]
    if status.p50_millis is not None and status.p95_millis is not None:
        parts.append(f"p50 {status.p50_millis / 1000:.2f} s, p95 {status.p95_millis / 1000:.2f} s")
    if status.hedged_percent is not None:
        parts.append(f"{status.hedged_percent} % hedged, {status.hedge_wins} won by another attempt than the first")
    if status.spend is not None:
        spent, held = max(0.0, float(status.spend.day_usd) - held_usd), f"{held_usd:.4f}"
        parts.append(f"${spent:.4f} spent")
        if float(held):
            parts.append(f"${held} held for attempts whose cost is not known yet")
    if status.leaked:
        parts.append(f"{status.leaked} given up attempts without a proven end (hedgerow receipts)")
    return "; ".join(parts)

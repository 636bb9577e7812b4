"""The status of a ServerlessProvider, from what it says of its health."""

from __future__ import annotations

import msgspec

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN, set_condition
from hedgerow_operator.api.inference_endpoint import READY
from hedgerow_operator.api.serverless_provider import ServerlessProvider, ServerlessProviderStatus
from hedgerow_operator.api.status import Condition
from hedgerow_operator.core.endpoints.status import NOT_READY


class ProviderHealth(msgspec.Struct, frozen=True, kw_only=True):
    """ok: requests can be sent; None: nobody could ask. reason, sentence: why not. warm, queued: workers and jobs,
    where it shows them.
    """

    ok: bool | None
    reason: str = ""
    sentence: str = ""
    warm: int | None = None
    queued: int | None = None

    @property
    def trouble(self) -> str:
        """Why it is not ready; empty: it is, or nobody knows."""
        return (self.sentence or "it is not ready") if self.ok is False else ""


def provider_status(provider: ServerlessProvider, health: ProviderHealth, now: float) -> ServerlessProviderStatus:
    """now: seconds since the epoch."""
    reason = health.reason or _REASONS[health.ok]
    condition = Condition(
        type=READY,
        status={True: TRUE, False: FALSE, None: UNKNOWN}[health.ok],
        reason=reason,
        message=health.sentence,
        observed_generation=provider.metadata.generation,
    )
    return msgspec.structs.replace(
        provider.status,
        conditions=set_condition(provider.status.conditions, condition, now),
        observed_generation=provider.metadata.generation,
        state={True: READY, False: NOT_READY, None: UNKNOWN}[health.ok],
        reason=reason,
        warm=health.warm,
        queued=health.queued,
    )


_REASONS = {
    True: reasons.PROVIDER_ANSWERS,
    False: reasons.PROVIDER_NOT_HEALTHY,
    None: reasons.NOT_MEASURED,
}

"""What a gateway tells the operator, and what it is answered. Encoded as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hedgerow_operator.core.endpoints.provider_status import ProviderHealth
from hedgerow_operator.core.endpoints.seen import EndpointShown
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.leases import Asked


class GatewayReport(Struct, frozen=True, kw_only=True):
    """gateway: name of its pod. endpoints, providers, asked: by NAMESPACE/NAME. asked: of endpoints with a budget that
    is spread over several gateways.
    """

    gateway: str
    endpoints: Mapping[str, EndpointShown] = {}
    providers: Mapping[str, ProviderHealth] = {}
    asked: Mapping[str, Asked] = {}


class GatewayAnswer(Struct, frozen=True, kw_only=True):
    """leases: what may be spent from now on, by NAMESPACE/NAME; one that is not named stays as it was."""

    leases: Mapping[str, Limits] = {}

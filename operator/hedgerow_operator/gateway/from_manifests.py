"""How an endpoint is served, as its manifest says. Pure, save that plugins are looked up."""

from __future__ import annotations

from importlib.metadata import entry_points

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.inference_spec import AffinitySpec, EndpointProvider, HedgeSpec
from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.cutover import Cascade, QueueCutover
from hedgerow_operator.core.hedging.decision import Policy
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge, Race
from hedgerow_operator.gateway.settings import Affinity, ApiKeys, EndpointSettings, ProviderUse, Speaks

POLICIES = "hedgerow.policies"
_RESULT_SECONDS = 1800
_MIB = 1024 * 1024


def settings_of(endpoint: InferenceEndpoint, keys: ApiKeys | None) -> EndpointSettings:
    """keys: of spec.auth; None: there is none. Raises ValueError in a sentence."""
    spec = endpoint.spec
    if spec.auth is not None and keys is None:
        raise ValueError("spec.auth names a Secret that was not read")
    return EndpointSettings(
        namespace=endpoint.metadata.namespace,
        name=endpoint.metadata.name,
        speaks=Speaks(spec.protocol),
        providers=tuple(map(_use, spec.providers)),
        policy=policy_of(spec.hedge),
        max_live=spec.hedge.max_live,
        max_extra_load=spec.hedge.max_extra_load_percent / 100,
        deadline_seconds=float(spec.deadline_seconds),
        affinity=_affinity(spec.affinity),
        max_body_bytes=spec.max_body_mib * _MIB,
        max_requests=spec.max_requests,
        keys=keys,
        result_seconds=float(spec.result_seconds or _RESULT_SECONDS),
        objective=spec.slo.objective_percent / 100 if spec.slo is not None else None,
    )


def policy_of(hedge: HedgeSpec) -> Policy:
    """The policy with the times that are written, and its own for the others. Raises ValueError in a sentence."""
    times = {
        name: millis / 1000
        for name, millis in (
            ("after_seconds", hedge.after_millis),
            ("cutover_seconds", hedge.cutover_millis),
            ("safety_seconds", hedge.safety_millis),
            ("escalate_seconds", hedge.escalate_millis),
        )
        if millis is not None
    }
    if hedge.policy == "Cascade":
        return Cascade(**times, most_live=hedge.max_live)
    if hedge.policy == "Plugin":
        return _plugin(hedge.plugin or "")
    kinds: dict[str, type[Adaptive | Fixed | QueueCutover | Race | NoHedge]] = {
        "Adaptive": Adaptive,
        "Fixed": Fixed,
        "QueueCutover": QueueCutover,
        "Race": Race,
        "None": NoHedge,
    }
    return kinds[hedge.policy](**times)


def _plugin(name: str) -> Policy:
    found = list(entry_points(group=POLICIES, name=name))
    if not found:
        known = ", ".join(sorted(one.name for one in entry_points(group=POLICIES))) or "none"
        raise ValueError(f"spec.hedge.plugin: no policy is called {name!r} here (installed: {known})")
    try:
        policy = found[0].load()()
    except Exception as error:  # noqa: BLE001  (others' code may raise anything)
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"spec.hedge.plugin: the policy {name!r} cannot be loaded ({what})") from None
    if not callable(getattr(policy, "decide", None)):
        raise ValueError(f"spec.hedge.plugin: the policy {name!r} has no decide(situation)")
    made: Policy = policy
    return made


def _use(provider: EndpointProvider) -> ProviderUse:
    return ProviderUse(
        name=provider.name,
        model=provider.model or "",
        path=provider.path or "",
        request=provider.request or "",
        response=provider.response or "",
        weight=provider.weight,
    )


def _affinity(affinity: AffinitySpec | None) -> Affinity | None:
    return None if affinity is None else Affinity(header=affinity.header, ttl_seconds=float(affinity.ttl_seconds))

"""From manifests to what is served: makes providers and parts, and says what keeps an endpoint from being served."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.adapters.providers.limiter import Limiters
from hedgerow_operator.adapters.providers.scrubbing import Scrubber
from hedgerow_operator.adapters.providers.setup import Secrets
from hedgerow_operator.api import reasons
from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.inference_spec import Budget, EndpointProvider, InferenceEndpointSpec, NameRef
from hedgerow_operator.api.serverless_provider import ServerlessProvider, ServerlessProviderSpec
from hedgerow_operator.gateway.from_manifests import settings_of
from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.ports import JobBook, Losers, Money, Parts, Protection, Validator
from hedgerow_operator.gateway.provider_factory import provider_of
from hedgerow_operator.gateway.secret_files import SecretMissingError, SecretSource
from hedgerow_operator.gateway.settings import ApiKeys, EndpointSettings

Place = tuple[str, str]


class Accounts(Protocol):
    """What is held for endpoints: money, losers, protection. ``endpoint`` is NAMESPACE/NAME."""

    def parts(
        self, endpoint: str, providers: Sequence[Provider], budget: Budget | None
    ) -> tuple[Money, Losers, Protection]:
        """Of one endpoint; called again it goes on with the new limits."""

    def jobs(self, endpoint: str) -> JobBook:
        """The names of its jobs."""

    def forget(self, endpoint: str) -> None:
        """It is served no longer."""


class Standing(Struct, frozen=True, kw_only=True):
    """Whether an endpoint is served as it is written now. reason, sentence: why not. left_out: providers that could not
    be made, with why.
    """

    served: bool
    generation: int = 0
    reason: str = ""
    sentence: str = ""
    left_out: Mapping[str, str] = {}


class _Unfit(Exception):
    """reason: of the condition; the message is a sentence."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class _Made(Struct):
    spec: ServerlessProviderSpec
    digest: str
    provider: Provider
    scrubber: Scrubber


class _Using(NamedTuple):
    endpoint: InferenceEndpointSpec
    keys: str
    providers: tuple[int, ...]


class Desk:
    """Used on the gateway's loop. validator_of: raises ValueError. allowed_networks: see Setup."""

    def __init__(
        self,
        gateway: Gateway,
        secrets: SecretSource,
        accounts: Accounts,
        validator_of: Callable[[AnswerCheck], Validator],
        allowed_networks: tuple[str, ...] = (),
    ) -> None:
        self._gateway, self._secrets, self._accounts = gateway, secrets, accounts
        self._validator_of, self._allowed_networks = validator_of, allowed_networks
        self._made: dict[tuple[str, str, str], _Made] = {}
        self._limiters = Limiters()
        self._retired: list[Provider] = []
        self._served: dict[Place, _Using] = {}
        self.standings: dict[Place, Standing] = {}

    async def apply(self, endpoints: Iterable[InferenceEndpoint], providers: Iterable[ServerlessProvider]) -> None:
        """Serve exactly these from now on. One that is written wrongly now is served as it was before."""
        known = {(one.metadata.namespace, one.metadata.name): one for one in providers}
        wanted = {(one.metadata.namespace, one.metadata.name): one for one in endpoints}
        for place in [place for place in self.standings if place not in wanted]:
            self._withdraw(place)
        for place, endpoint in wanted.items():
            self.standings[place] = await self._standing(place, endpoint, known)
        self._retire({(place[0], use.provider_ref.name, use.name) for place, one in wanted.items()
                      for use in one.spec.providers})  # fmt: skip

    async def close(self) -> None:
        """Let go of every provider."""
        self._retire(set())
        await asyncio.gather(*(provider.close() for provider in self._retired), return_exceptions=True)

    def provider(self, namespace: str, ref: str) -> Provider | None:
        """One that is made of this ServerlessProvider, whatever it is called."""
        return next((made.provider for key, made in self._made.items() if key[:2] == (namespace, ref)), None)

    def budgets(self) -> tuple[str, ...]:
        """Endpoints that have one, as NAMESPACE/NAME."""
        return tuple("/".join(place) for place, using in self._served.items() if using.endpoint.budget is not None)

    async def _standing(
        self, place: Place, endpoint: InferenceEndpoint, known: Mapping[Place, ServerlessProvider]
    ) -> Standing:
        left_out: dict[str, str] = {}
        generation = endpoint.metadata.generation
        try:
            made = await self._providers(endpoint, known, left_out)
            keys, digest = await self._keys(endpoint)
            using = _Using(endpoint.spec, digest, tuple(map(id, made)))
            if self._served.get(place) != using:
                self._serve(endpoint, made, keys)
                self._served[place] = using
        except _Unfit as unfit:
            return Standing(
                served=False, generation=generation, reason=unfit.reason, sentence=str(unfit), left_out=left_out
            )
        return Standing(served=True, generation=generation, left_out=left_out)

    def _serve(self, endpoint: InferenceEndpoint, made: Sequence[Provider], keys: ApiKeys | None) -> None:
        try:
            settings = _with_only(settings_of(endpoint, keys), made)
            validators = tuple(map(self._validator_of, endpoint.spec.validate))
            money, losers, protection = self._accounts.parts(_full_name(endpoint), made, endpoint.spec.budget)
        except ValueError as error:
            raise _Unfit(reasons.INVALID_SPEC, str(error)) from None
        parts = Parts(
            providers=made,
            money=money,
            losers=losers,
            protection=protection,
            validators=validators,
            scrubbers=self._scrubbers(endpoint),
            jobs=self._accounts.jobs(_full_name(endpoint)),
        )
        self._gateway.serve(settings, parts)

    def _scrubbers(self, endpoint: InferenceEndpoint) -> dict[str, Scrubber]:
        keys = {use.name: (endpoint.metadata.namespace, use.provider_ref.name, use.name)
                for use in endpoint.spec.providers}  # fmt: skip
        return {name: self._made[key].scrubber for name, key in keys.items()
                if key in self._made and self._made[key].scrubber}  # fmt: skip

    async def _providers(
        self, endpoint: InferenceEndpoint, known: Mapping[Place, ServerlessProvider], left_out: dict[str, str]
    ) -> list[Provider]:
        made: list[Provider] = []
        faults: list[_Unfit] = []
        for use in endpoint.spec.providers:
            try:
                made.append(await self._provider(endpoint, use, known))
            except _Unfit as unfit:
                faults.append(unfit)
                left_out[use.name] = str(unfit)
        if not made:
            raise faults[0]
        return made

    async def _provider(
        self, endpoint: InferenceEndpoint, use: EndpointProvider, known: Mapping[Place, ServerlessProvider]
    ) -> Provider:
        namespace, ref = endpoint.metadata.namespace, use.provider_ref.name
        found = known.get((namespace, ref))
        if found is None:
            raise _Unfit(reasons.PROVIDER_NOT_FOUND, f"there is no ServerlessProvider {ref} in namespace {namespace}")
        if endpoint.spec.budget is not None and found.spec.price is None:
            sentence = (
                f'a budget needs the price of each provider; write price.perSecondUSD into {ref}, "0" if it is free'
            )
            raise _Unfit(reasons.INVALID_SPEC, sentence)
        entries = await self._secret(namespace, found.spec.credentials_secret_ref)
        key, digest = (namespace, ref, use.name), _digest(entries)
        made = self._made.get(key)
        if made is None or made.spec != found.spec or made.digest != digest:
            texts = _texts(found, entries)
            provider = self._make(found, use.name, texts)
            if made is not None:
                self._retired.append(made.provider)
            made = self._made[key] = _Made(found.spec, digest, provider, Scrubber(Secrets(texts).values()))
        return made.provider

    def _make(self, found: ServerlessProvider, name: str, texts: Mapping[str, str]) -> Provider:
        try:
            return provider_of(found, name, texts, self._allowed_networks, self._limiters)
        except ValueError as error:
            raise _Unfit(reasons.INVALID_SPEC, f"ServerlessProvider {found.metadata.name}: {error}") from None

    async def _keys(self, endpoint: InferenceEndpoint) -> tuple[ApiKeys | None, str]:
        auth = endpoint.spec.auth
        if auth is None:
            return None, ""
        entries = await self._secret(endpoint.metadata.namespace, auth.api_key_secret_ref)
        return ApiKeys(entries), _digest(entries)

    async def _secret(self, namespace: str, ref: NameRef | None) -> Mapping[str, bytes]:
        if ref is None:
            return {}
        try:
            return await self._secrets.read(namespace, ref.name)
        except SecretMissingError as error:
            raise _Unfit(reasons.SECRET_MISSING, str(error)) from None

    def _withdraw(self, place: Place) -> None:
        self._gateway.withdraw(*place)
        self._accounts.forget("/".join(place))
        self._served.pop(place, None)
        del self.standings[place]

    def _retire(self, used: set[tuple[str, str, str]]) -> None:
        """Requests may still run at them: they are closed at the end."""
        for key in [key for key in self._made if key not in used]:
            self._retired.append(self._made.pop(key).provider)


def _with_only(settings: EndpointSettings, made: Sequence[Provider]) -> EndpointSettings:
    names = {provider.name for provider in made}
    return replace(settings, providers=tuple(use for use in settings.providers if use.name in names))


def _texts(found: ServerlessProvider, entries: Mapping[str, bytes]) -> dict[str, str]:
    try:
        return {key: value.decode() for key, value in entries.items()}
    except UnicodeDecodeError:
        sentence = f"the Secret of {found.metadata.name} holds bytes that are no text; write the key as text"
        raise _Unfit(reasons.INVALID_SPEC, sentence) from None


def _full_name(endpoint: InferenceEndpoint) -> str:
    return f"{endpoint.metadata.namespace}/{endpoint.metadata.name}"


def _digest(entries: Mapping[str, bytes]) -> str:
    """Another one when any entry has changed; nothing can be read from it."""
    digest = hashlib.sha256()
    for key in sorted(entries):
        digest.update(f"{len(key)} {key} {len(entries[key])} ".encode() + entries[key])
    return digest.hexdigest()

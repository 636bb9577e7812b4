"""The rules about ``spec`` of a ServerlessProvider that a schema alone cannot say."""

from __future__ import annotations

import re

from hedgerow_operator.api.address_rules import ADDRESS_RULES
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.money_text import USD, is_usd
from hedgerow_operator.api.rule import Rule, cel_list
from hedgerow_operator.api.serverless_provider import ServerlessProviderSpec

_SERVICE = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"
# Sections by the type that reads them.
_SECTIONS = {
    "runpod": "RunPod",
    "modal": "Modal",
    "vast": "Vast",
    "lambda": "Lambda",
    "cerebrium": "Cerebrium",
    "http": "HTTP",
    "kubernetes": "Kubernetes",
    "simulated": "Simulated",
    "plugin": "Plugin",
}
_WITHOUT_ENDPOINT = ("Lambda", "Simulated", "Plugin")
_WITH_CREDENTIALS = ("RunPod", "Vast", "Lambda")
_BY_CONNECTION = ("HTTP", "Kubernetes")
_ONLY_OF_JOBS = ("status", "output", "freeInQueue")
_PLACES_OF_IDS = ("status", "result", "cancel")


def _read_by_type(section: str, kind: str) -> Rule:
    return Rule(
        at="spec",
        field=section,
        cel=f"!has(self.{section}) || self.type == '{kind}'",
        message=f"is read with type {kind}; take it out, or write type: {kind}",
        holds=lambda spec: section not in to_builtins(spec) or spec.type == kind,
    )


def _needed_by_type(section: str, kind: str) -> Rule:
    return Rule(
        at="spec",
        field=section,
        cel=f"self.type != '{kind}' || has(self.{section})",
        message=f"type {kind} needs it",
        holds=lambda spec: spec.type != kind or section in to_builtins(spec),
    )


def _has_an_endpoint(spec: ServerlessProviderSpec) -> bool:
    return spec.endpoint is not None or spec.type in _WITHOUT_ENDPOINT


def _needs_an_endpoint(spec: ServerlessProviderSpec) -> bool:
    return spec.endpoint is None or spec.type not in _WITHOUT_ENDPOINT


def _endpoint_is_a_service(spec: ServerlessProviderSpec) -> bool:
    return spec.type != "Kubernetes" or spec.endpoint is None or re.fullmatch(_SERVICE, spec.endpoint) is not None


def _has_credentials(spec: ServerlessProviderSpec) -> bool:
    return spec.type not in _WITH_CREDENTIALS or spec.credentials_secret_ref is not None


def _simulates_what_it_reads(spec: ServerlessProviderSpec) -> bool:
    return spec.type != "Simulated" or (spec.credentials_secret_ref is None and spec.limits is None)


def _price_is_money(spec: ServerlessProviderSpec) -> bool:
    return spec.price is None or is_usd(spec.price.per_second_usd)


def _disconnect_means_something(spec: ServerlessProviderSpec) -> bool:
    return not spec.stops_on_disconnect or spec.type in _BY_CONNECTION


def _states_are_told(spec: ServerlessProviderSpec) -> bool:
    return spec.http is None or spec.http.status is None or "Valid" in (spec.http.states or {}).values()


def _asked_without_need(spec: ServerlessProviderSpec) -> bool:
    if spec.http is None or spec.http.status is not None:
        return True
    return [spec.http.result, spec.http.cancel, spec.http.states, spec.http.poll_millis].count(None) == 4


def _declared_for_jobs(spec: ServerlessProviderSpec) -> bool:
    return spec.http is None or spec.http.submit is not None or not set(_ONLY_OF_JOBS) & set(to_builtins(spec.http))


def _paths_name_the_job(spec: ServerlessProviderSpec) -> bool:
    calls = (spec.http.status, spec.http.result, spec.http.cancel) if spec.http is not None else ()
    return all(call is None or "{id}" in call.path for call in calls)


def _faults_in_order(spec: ServerlessProviderSpec) -> bool:
    faults = spec.simulated.faults if spec.simulated is not None else ()
    return all(fault.last is None or fault.first <= fault.last for fault in faults)


SERVERLESS_PROVIDER_RULES = (
    *(_read_by_type(section, kind) for section, kind in _SECTIONS.items()),
    _needed_by_type("lambda", "Lambda"),
    _needed_by_type("plugin", "Plugin"),
    Rule(
        at="spec",
        field="endpoint",
        cel=f"self.type in {cel_list(_WITHOUT_ENDPOINT)} || has(self.endpoint)",
        message="write which one: RunPod's id, Vast's name, the URL of Modal, Cerebrium or HTTP, or the Service's NAME",
        holds=_has_an_endpoint,
    ),
    Rule(
        at="spec",
        field="endpoint",
        cel=f"!(self.type in {cel_list(_WITHOUT_ENDPOINT)}) || !has(self.endpoint)",
        message="types Lambda, Simulated and Plugin have none; take it out",
        holds=_needs_an_endpoint,
    ),
    *ADDRESS_RULES,
    Rule(
        at="spec",
        field="endpoint",
        cel=f"self.type != 'Kubernetes' || !has(self.endpoint) || self.endpoint.matches('{_SERVICE}')",
        message="write the Service as NAME or NAME.NAMESPACE; its port belongs into kubernetes.port",
        holds=_endpoint_is_a_service,
    ),
    Rule(
        at="spec",
        field="credentialsSecretRef",
        cel=f"!(self.type in {cel_list(_WITH_CREDENTIALS)}) || has(self.credentialsSecretRef)",
        message="types RunPod, Vast and Lambda want a key; write the name of the Secret that holds it as apiKey",
        holds=_has_credentials,
    ),
    Rule(
        at="spec",
        field="type",
        cel="self.type != 'Simulated' || (!has(self.credentialsSecretRef) && !has(self.limits))",
        message="a simulated provider has no credentials and no limits; take them out",
        holds=_simulates_what_it_reads,
    ),
    Rule(
        at="spec",
        field="price.perSecondUSD",
        cel=f"!has(self.price) || self.price.perSecondUSD.matches('{USD}')",
        message='write US dollars a second as a number in quotes, such as "0.000306"',
        holds=_price_is_money,
    ),
    Rule(
        at="spec",
        field="stopsOnDisconnect",
        cel=f"!has(self.stopsOnDisconnect) || !self.stopsOnDisconnect || self.type in {cel_list(_BY_CONNECTION)}",
        message="is read with types HTTP and Kubernetes; take it out",
        holds=_disconnect_means_something,
    ),
    Rule(
        at="spec",
        field="http",
        cel="!has(self.http) || !has(self.http.status) || (has(self.http.states)"
        " && self.http.states.exists(state, self.http.states[state] == 'Valid'))",
        message="states must say which state means that a job is done; write one such as COMPLETED: Valid",
        holds=_states_are_told,
    ),
    Rule(
        at="spec",
        field="http",
        cel="!has(self.http) || has(self.http.status) || !(has(self.http.result) || has(self.http.cancel)"
        " || has(self.http.states) || has(self.http.pollMillis))",
        message="result, cancel, states and pollMillis are read with status; write it too, or take them out",
        holds=_asked_without_need,
    ),
    Rule(
        at="spec",
        field="http",
        cel="!has(self.http) || has(self.http.submit) || !("
        + " || ".join(f"has(self.http.{field})" for field in _ONLY_OF_JOBS)
        + ")",
        message="status, output and freeInQueue are about jobs; write submit too, or take them out",
        holds=_declared_for_jobs,
    ),
    Rule(
        at="spec",
        field="http",
        cel=" && ".join(
            f"(!has(self.http) || !has(self.http.{call}) || self.http.{call}.path.contains('{{id}}'))"
            for call in _PLACES_OF_IDS
        ),
        message="the paths of status, result and cancel must say which job; put {id} into each",
        holds=_paths_name_the_job,
    ),
    Rule(
        at="spec",
        field="simulated.faults",
        cel="!has(self.simulated) || !has(self.simulated.faults) || self.simulated.faults.all(one, !has(one.last)"
        " || one.first <= one.last)",
        message="first comes after last; write the smaller number as first",
        holds=_faults_in_order,
    ),
)

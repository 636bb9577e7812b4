"""The rules about an InferenceEndpoint that a schema alone cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hedgerow_operator.api.address_rules import STAYS_BELOW, cel_climbs, climbs
from hedgerow_operator.api.answer_check import NEEDED, READ_BY, AnswerCheck
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.inference_spec import InferenceEndpointSpec
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.money_text import USD, is_usd
from hedgerow_operator.api.rule import Rule, cel_list

_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SHARE = "^(0|1|0[.][0-9]{1,9})$"

# Fields of hedge by the policies that read them.
_POLICIES: dict[str, tuple[str, ...]] = {
    "afterMillis": ("Fixed",),
    "cutoverMillis": ("Adaptive", "QueueCutover", "Cascade"),
    "safetyMillis": ("Adaptive", "QueueCutover", "Cascade"),
    "escalateMillis": ("Adaptive", "Cascade"),
    "plugin": ("Plugin",),
}


def _name_is_a_label(endpoint: InferenceEndpoint) -> bool:
    return len(endpoint.metadata.name) <= 63 and re.fullmatch(_NAME, endpoint.metadata.name) is not None


def _read_by_policy(field: str, policies: tuple[str, ...]) -> Rule:
    def holds(spec: InferenceEndpointSpec) -> bool:
        return field not in to_builtins(spec.hedge) or spec.hedge.policy in policies

    return Rule(
        at="spec",
        field=f"hedge.{field}",
        cel=f"!has(self.hedge) || !has(self.hedge.{field}) || self.hedge.policy in {cel_list(policies)}",
        message=f"is read with policy {_either(policies)}; take it out, or write one of these policies",
        holds=holds,
    )


def _read_by_check(field: str, types: tuple[str, ...]) -> Rule:
    return Rule(
        at="spec",
        field="validate",
        cel=f"!has(self.validate) || self.validate.all(check, !has(check.{field}) || check.type in {cel_list(types)})",
        message=f"{field} is read with type {_either(types)}; take it out, or write another type",
        holds=_of_checks(lambda check, fields: field not in fields or check.type in types),
    )


def _needed_by_check(kind: str, field: str) -> Rule:
    return Rule(
        at="spec",
        field="validate",
        cel=f"!has(self.validate) || self.validate.all(check, check.type != '{kind}' || has(check.{field}))",
        message=f"type {kind} needs {field}",
        holds=_of_checks(lambda check, fields: check.type != kind or field in fields),
    )


def _of_checks(holds: Callable[[AnswerCheck, dict[str, Any]], bool]) -> Callable[[InferenceEndpointSpec], bool]:
    return lambda spec: all(holds(check, to_builtins(check)) for check in spec.validate)


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _plugin_is_named(spec: InferenceEndpointSpec) -> bool:
    return spec.hedge.policy != "Plugin" or spec.hedge.plugin is not None


def _names_differ(spec: InferenceEndpointSpec) -> bool:
    return len({provider.name for provider in spec.providers}) == len(spec.providers)


def _models_are_read(spec: InferenceEndpointSpec) -> bool:
    return spec.protocol == "OpenAI" or all(provider.model is None for provider in spec.providers)


def _paths_stay_below(spec: InferenceEndpointSpec) -> bool:
    return not any(climbs(provider.path) for provider in spec.providers)


def _weights_compare(spec: InferenceEndpointSpec) -> bool:
    return sum(provider.weight is not None for provider in spec.providers) != 1


def _results_are_jobs(spec: InferenceEndpointSpec) -> bool:
    return spec.result_seconds is None or spec.protocol == "Job"


def _durations_in_order(check: AnswerCheck, fields: dict[str, Any]) -> bool:
    return check.min_millis is None or check.max_millis is None or check.min_millis <= check.max_millis


def _rms_is_a_share(check: AnswerCheck, fields: dict[str, Any]) -> bool:
    return check.min_rms is None or re.fullmatch(_SHARE, check.min_rms) is not None


def _budget_says_something(spec: InferenceEndpointSpec) -> bool:
    return spec.budget is None or spec.budget.hourly_usd is not None or spec.budget.daily_usd is not None


def _hourly_is_money(spec: InferenceEndpointSpec) -> bool:
    return spec.budget is None or is_usd(spec.budget.hourly_usd)


def _daily_is_money(spec: InferenceEndpointSpec) -> bool:
    return spec.budget is None or is_usd(spec.budget.daily_usd)


_MONEY = 'write US dollars as a number in quotes, such as "5" or "0.25"'

INFERENCE_ENDPOINT_RULES = (
    Rule(
        at="",
        field="metadata.name",
        cel=f"size(self.metadata.name) <= 63 && self.metadata.name.matches('{_NAME}')",
        message="write at most 63 lower-case letters, digits and '-', such as chat; it is part of the URL",
        holds=_name_is_a_label,
    ),
    Rule(
        at="spec",
        field="providers",
        cel="self.providers.all(one, self.providers.exists_one(other, other.name == one.name))",
        message="two have the same name; give each a name of its own",
        holds=_names_differ,
    ),
    Rule(
        at="spec",
        field="providers",
        cel="self.protocol == 'OpenAI' || self.providers.all(one, !has(one.model))",
        message="model is read with protocol OpenAI; with others, write it into request, a JMESPath",
        holds=_models_are_read,
    ),
    Rule(
        at="spec",
        field="providers",
        cel="self.providers.filter(one, has(one.weight)).size() != 1",
        message="one weight alone shares nothing; write weight at two providers or more, or at none",
        holds=_weights_compare,
    ),
    Rule(
        at="spec",
        field="providers",
        cel=f"self.providers.all(one, !has(one.path) || !{cel_climbs('one.path')})",
        message=STAYS_BELOW,
        holds=_paths_stay_below,
    ),
    Rule(
        at="spec",
        field="resultSeconds",
        cel="!has(self.resultSeconds) || self.protocol == 'Job'",
        message="only jobs have results to be asked for; take it out, or write protocol: Job",
        holds=_results_are_jobs,
    ),
    *(_read_by_policy(field, policies) for field, policies in _POLICIES.items()),
    Rule(
        at="spec",
        field="hedge.plugin",
        cel="!has(self.hedge) || self.hedge.policy != 'Plugin' || has(self.hedge.plugin)",
        message="policy Plugin needs the name of an entry point in the group hedgerow.policies",
        holds=_plugin_is_named,
    ),
    *(_read_by_check(field, types) for field, types in READ_BY.items()),
    *(_needed_by_check(kind, field) for kind, field in NEEDED.items()),
    Rule(
        at="spec",
        field="validate",
        cel="!has(self.validate) || self.validate.all(check, !has(check.minMillis) || !has(check.maxMillis)"
        " || check.minMillis <= check.maxMillis)",
        message="minMillis is more than maxMillis; write the smaller one first",
        holds=_of_checks(_durations_in_order),
    ),
    Rule(
        at="spec",
        field="validate",
        cel=f"!has(self.validate) || self.validate.all(check, !has(check.minRMS) || check.minRMS.matches('{_SHARE}'))",
        message='minRMS is a share of full loudness; write a number from 0 to 1 in quotes, such as "0.0001"',
        holds=_of_checks(_rms_is_a_share),
    ),
    Rule(
        at="spec",
        field="budget",
        cel="!has(self.budget) || has(self.budget.hourlyUSD) || has(self.budget.dailyUSD)",
        message="write hourlyUSD, dailyUSD or both; without a budget nothing is limited",
        holds=_budget_says_something,
    ),
    Rule(
        at="spec",
        field="budget.hourlyUSD",
        cel=f"!has(self.budget) || !has(self.budget.hourlyUSD) || self.budget.hourlyUSD.matches('{USD}')",
        message=_MONEY,
        holds=_hourly_is_money,
    ),
    Rule(
        at="spec",
        field="budget.dailyUSD",
        cel=f"!has(self.budget) || !has(self.budget.dailyUSD) || self.budget.dailyUSD.matches('{USD}')",
        message=_MONEY,
        holds=_daily_is_money,
    ),
)

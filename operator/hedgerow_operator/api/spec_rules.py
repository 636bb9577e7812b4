"""The rules about the job's name and about ``spec`` outside the pod template."""

from __future__ import annotations

import re

from hedgerow_operator.api.alerts import FORMS, WHEN_PATTERN, is_when
from hedgerow_operator.api.command_rules import COMMAND_RULES, CommandRule
from hedgerow_operator.api.labels import MAX_JOB_NAME_LENGTH
from hedgerow_operator.api.node_signals import is_one_form
from hedgerow_operator.api.rule import Rule
from hedgerow_operator.api.spec import MAX_RANKS, LocalSpec, TrainingJobSpec
from hedgerow_operator.api.training_job import TrainingJob

_NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_PROGRESS_GROUPS = ("(?P<step>", "(?P<phase>")
_USD_PATTERN = "^[0-9]+([.][0-9]+)?$"


def _name_fits(job: TrainingJob) -> bool:
    return len(job.metadata.name) <= MAX_JOB_NAME_LENGTH


def _name_is_a_label(job: TrainingJob) -> bool:
    return re.fullmatch(_NAME_PATTERN, job.metadata.name) is not None


def _one_place(spec: TrainingJobSpec) -> bool:
    return [spec.kubernetes, spec.slurm, spec.local].count(None) == 2


def _ranks_fit(spec: TrainingJobSpec) -> bool:
    return spec.ranks <= MAX_RANKS


def _directory_is_absolute(spec: TrainingJobSpec) -> bool:
    return spec.kubernetes is None or spec.checkpoint is None or spec.checkpoint.directory.startswith("/")


def _stall_in_order(spec: TrainingJobSpec) -> bool:
    return spec.health.stall.min_seconds <= spec.health.stall.max_seconds


def _backoff_in_order(spec: TrainingJobSpec) -> bool:
    return spec.recovery.backoff.initial_seconds <= spec.recovery.backoff.max_seconds


def _phases_differ(spec: TrainingJobSpec) -> bool:
    return len({phase.name for phase in spec.health.phases}) == len(spec.health.phases)


def _signals_have_nodes(spec: TrainingJobSpec) -> bool:
    return not spec.health.node_signals or spec.kubernetes is not None


def _signals_have_one_form(spec: TrainingJobSpec) -> bool:
    return all(is_one_form(signal) for signal in spec.health.node_signals)


def _alerts_differ(spec: TrainingJobSpec) -> bool:
    return len({alert.name for alert in spec.alerts}) == len(spec.alerts)


def _alerts_can_be_read(spec: TrainingJobSpec) -> bool:
    return all(is_when(alert.when) for alert in spec.alerts)


def _pattern_is_used(spec: TrainingJobSpec) -> bool:
    return spec.heartbeat.log_pattern is None or spec.heartbeat.source in ("Auto", "Log")


def _pattern_has_a_group(spec: TrainingJobSpec) -> bool:
    pattern = spec.heartbeat.log_pattern
    return pattern is None or any(group in pattern for group in _PROGRESS_GROUPS)


def _price_is_a_number(price: str) -> bool:
    return re.fullmatch(_USD_PATTERN, price) is not None


def _for_local(rule: CommandRule) -> Rule:
    def holds(local: LocalSpec) -> bool:
        return rule.holds([entry.name for entry in local.env])

    return Rule(at="spec.local", field=rule.field, cel=rule.cel("self"), message=rule.message, holds=holds)


NAME_RULES = (
    Rule(
        at="",
        field="metadata.name",
        cel=f"size(self.metadata.name) <= {MAX_JOB_NAME_LENGTH}",
        message=f"write a name of at most {MAX_JOB_NAME_LENGTH} characters: attempt and worker numbers are appended "
        "to it, and a pod's host name holds 63",
        holds=_name_fits,
    ),
    Rule(
        at="",
        field="metadata.name",
        cel=f"self.metadata.name.matches('{_NAME_PATTERN}')",
        message="write a name of lower-case letters, digits and '-', such as llama-7b: it becomes part of host names",
        holds=_name_is_a_label,
    ),
)

# A rule about health or recovery is placed on spec: placed on them, the API server would hold it against their
# default {} before it fills in the defaults inside.
SPEC_RULES = (
    Rule(
        at="spec",
        field="heartbeat.logPattern",
        cel="!has(self.heartbeat.logPattern) || self.heartbeat.source in ['Auto', 'Log']",
        message="heartbeat.source leaves the log unread; write source: Log (or Auto), or take logPattern out",
        holds=_pattern_is_used,
    ),
    Rule(
        at="spec",
        field="heartbeat.logPattern",
        cel="!has(self.heartbeat.logPattern) || "
        + " || ".join(f"self.heartbeat.logPattern.contains('{group}')" for group in _PROGRESS_GROUPS),
        message=r"write a group for what tells progress, such as step (?P<step>\d+), or (?P<phase>train|eval)",
        holds=_pattern_has_a_group,
    ),
    Rule(
        at="spec",
        cel="[has(self.kubernetes), has(self.slurm), has(self.local)].exists_one(place, place)",
        message="set exactly one of kubernetes (workers are pods), slurm (workers are nodes of a batch job) and local "
        "(workers are processes of this machine)",
        holds=_one_place,
    ),
    Rule(
        at="spec",
        field="workers",
        cel=f"self.workers * self.ranksPerWorker <= {MAX_RANKS}",
        message=f"workers times ranksPerWorker is more than {MAX_RANKS} ranks; write smaller numbers",
        holds=_ranks_fit,
    ),
    Rule(
        at="spec",
        field="checkpoint.directory",
        cel="!has(self.kubernetes) || !has(self.checkpoint) || self.checkpoint.directory.startsWith('/')",
        message="with kubernetes, write an absolute path inside the container, such as /ckpt/run7",
        holds=_directory_is_absolute,
    ),
    Rule(
        at="spec",
        field="health.stall.minSeconds",
        cel="self.health.stall.minSeconds <= self.health.stall.maxSeconds",
        message="minSeconds is greater than maxSeconds; lower minSeconds or raise maxSeconds",
        holds=_stall_in_order,
    ),
    Rule(
        at="spec",
        field="health.phases",
        cel="!has(self.health.phases)"
        " || self.health.phases.all(one, self.health.phases.exists_one(other, other.name == one.name))",
        message="a phase is listed twice; merge the entries that have the same name",
        holds=_phases_differ,
    ),
    Rule(
        at="spec",
        field="health.nodeSignals",
        cel="!has(self.health.nodeSignals) || size(self.health.nodeSignals) == 0 || has(self.kubernetes)",
        message="only a cluster has nodes of which others say something; take nodeSignals out, or write kubernetes",
        holds=_signals_have_nodes,
    ),
    Rule(
        at="spec",
        field="health.nodeSignals",
        cel="!has(self.health.nodeSignals) || self.health.nodeSignals.all(one, [has(one.preset), "
        "has(one.conditionType), has(one.taintKey), has(one.label)].filter(form, form).size() == 1 "
        "&& (!has(one.status) || has(one.conditionType)))",
        message="write exactly one of preset, conditionType, taintKey and label in each signal, and status only beside "
        "conditionType",
        holds=_signals_have_one_form,
    ),
    Rule(
        at="spec",
        field="alerts",
        cel="!has(self.alerts) || self.alerts.all(one, self.alerts.exists_one(other, other.name == one.name))",
        message="two alerts have the same name; give each its own",
        holds=_alerts_differ,
    ),
    Rule(
        at="spec",
        field="alerts",
        cel=f"!has(self.alerts) || self.alerts.all(alert, alert.when.matches('{WHEN_PATTERN}'))",
        message=f"an alert's when has none of the known forms; write one of: {FORMS}",
        holds=_alerts_can_be_read,
    ),
    Rule(
        at="spec",
        field="recovery.backoff.initialSeconds",
        cel="self.recovery.backoff.initialSeconds <= self.recovery.backoff.maxSeconds",
        message="initialSeconds is greater than maxSeconds; lower initialSeconds or raise maxSeconds",
        holds=_backoff_in_order,
    ),
    Rule(
        at="spec.cost.gpuHourUSD",
        cel=f"self.matches('{_USD_PATTERN}')",
        message='write US dollars as a plain number in quotes, such as "2.49"',
        holds=_price_is_a_number,
    ),
    *(_for_local(rule) for rule in COMMAND_RULES),
)

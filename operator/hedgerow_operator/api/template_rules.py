"""The rules about a pod template and the one container in it that Hedgerow wraps."""

from __future__ import annotations

from hedgerow_operator.api.command_rules import COMMAND_RULES, CommandRule
from hedgerow_operator.api.labels import ANNOTATION_DEFAULT_CONTAINER
from hedgerow_operator.api.pod_template import Pods
from hedgerow_operator.api.rule import Rule

_KUBERNETES = "spec.kubernetes"
_CONTAINERS = "template.spec.containers"

_BY_ANNOTATION = (
    f"(has(self.template.metadata) && has(self.template.metadata.annotations)"
    f" && '{ANNOTATION_DEFAULT_CONTAINER}' in self.template.metadata.annotations"
    f" ? self.template.metadata.annotations['{ANNOTATION_DEFAULT_CONTAINER}'] : self.template.spec.containers[0].name)"
)
_NAMED = "has(self.container) && self.container != ''"
_WRAPPED_NAME = f"({_NAMED} ? self.container : {_BY_ANNOTATION})"
_ANY = f"size(self.{_CONTAINERS}) == 0"


def _about_wrapped(condition: str) -> str:
    """CEL: the condition about ``c`` holds of the wrapped container."""
    return f"self.{_CONTAINERS}.all(c, c.name != {_WRAPPED_NAME} || ({condition}))"


def _named_exists(pods: Pods) -> bool:
    return not pods.container or pods.wrapped is not None


def _annotated_exists(pods: Pods) -> bool:
    return bool(pods.container) or pods.wrapped is not None


def _wrapped_has_command(pods: Pods) -> bool:
    return pods.wrapped is None or len(pods.wrapped.command) > 0


def _never_restarts(pods: Pods) -> bool:
    return pods.template.spec.restart_policy in (None, "Never")


def _for_wrapped(rule: CommandRule) -> Rule:
    def holds(pods: Pods) -> bool:
        container = pods.wrapped
        return container is None or rule.holds([entry.name for entry in container.env])

    return Rule(
        at=_KUBERNETES, field=_CONTAINERS, cel=_about_wrapped(rule.cel("c")), message=rule.message, holds=holds
    )


TEMPLATE_RULES = (
    Rule(
        at=_KUBERNETES,
        field="container",
        cel=f"!({_NAMED}) || {_ANY} || self.{_CONTAINERS}.exists(c, c.name == self.container)",
        message="there is no container of this name in the template; write the name of the one that trains",
        holds=_named_exists,
    ),
    Rule(
        at=_KUBERNETES,
        field="template.metadata.annotations",
        cel=f"({_NAMED}) || {_ANY} || self.{_CONTAINERS}.exists(c, c.name == {_BY_ANNOTATION})",
        message=f"the annotation {ANNOTATION_DEFAULT_CONTAINER} names no container of this template; write the name "
        "of the container that trains",
        holds=_annotated_exists,
    ),
    Rule(
        at=_KUBERNETES,
        field=_CONTAINERS,
        cel=_about_wrapped("has(c.command) && size(c.command) > 0"),
        message="the container that trains needs command, since Hedgerow starts it; what the image "
        "would start is its Entrypoint and Cmd in `docker inspect IMAGE`, `skopeo inspect --config "
        "docker://IMAGE` or `crane config IMAGE`",
        holds=_wrapped_has_command,
    ),
    Rule(
        at=_KUBERNETES,
        field="template.spec.restartPolicy",
        cel="!has(self.template.spec.restartPolicy) || self.template.spec.restartPolicy == 'Never'",
        message="write Never, or leave restartPolicy out: Hedgerow restarts all ranks together",
        holds=_never_restarts,
    ),
    *(_for_wrapped(rule) for rule in COMMAND_RULES),
)

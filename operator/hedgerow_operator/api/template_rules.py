"""The rules about a pod template and the one container in it that Hedgerow wraps."""

from __future__ import annotations

from hedgerow_operator.api.command_rules import COMMAND_RULES, CommandRule
from hedgerow_operator.api.labels import ANNOTATION_DEFAULT_CONTAINER
from hedgerow_operator.api.pod_template import PodTemplate, wrapped_container
from hedgerow_operator.api.rule import Rule

_TEMPLATE = "spec.kubernetes.template"
_CONTAINERS = "spec.containers"

_WRAPPED_NAME = (
    f"(has(self.metadata) && has(self.metadata.annotations)"
    f" && '{ANNOTATION_DEFAULT_CONTAINER}' in self.metadata.annotations"
    f" ? self.metadata.annotations['{ANNOTATION_DEFAULT_CONTAINER}'] : self.spec.containers[0].name)"
)


def _about_wrapped(condition: str) -> str:
    """CEL: the condition about ``c`` holds of the wrapped container."""
    return f"self.spec.containers.all(c, c.name != {_WRAPPED_NAME} || ({condition}))"


def _wrapped_exists(template: PodTemplate) -> bool:
    return wrapped_container(template) is not None


def _wrapped_has_command(template: PodTemplate) -> bool:
    container = wrapped_container(template)
    return container is None or len(container.command) > 0


def _never_restarts(template: PodTemplate) -> bool:
    return template.spec.restart_policy in (None, "Never")


def _for_wrapped(rule: CommandRule) -> Rule:
    def holds(template: PodTemplate) -> bool:
        container = wrapped_container(template)
        if container is None:
            return True
        return rule.holds(container.command, container.args, [entry.name for entry in container.env])

    return Rule(
        at=_TEMPLATE, field=_CONTAINERS, cel=_about_wrapped(rule.cel("c", True)), message=rule.message, holds=holds
    )


TEMPLATE_RULES = (
    Rule(
        at=_TEMPLATE,
        field="metadata.annotations",
        cel=f"size(self.spec.containers) == 0 || self.spec.containers.exists(c, c.name == {_WRAPPED_NAME})",
        message=f"the annotation {ANNOTATION_DEFAULT_CONTAINER} names no container of this template; write the name "
        "of the container that trains",
        holds=_wrapped_exists,
    ),
    Rule(
        at=_TEMPLATE,
        field=_CONTAINERS,
        cel=_about_wrapped("has(c.command) && size(c.command) > 0"),
        message="the container that trains needs command, since Hedgerow starts it once for each rank; what the image "
        "would start is its Entrypoint and Cmd in `docker inspect IMAGE`, `skopeo inspect --config "
        "docker://IMAGE` or `crane config IMAGE`",
        holds=_wrapped_has_command,
    ),
    Rule(
        at=_TEMPLATE,
        field="spec.restartPolicy",
        cel="!has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Never'",
        message="write Never, or leave restartPolicy out: Hedgerow restarts all ranks together",
        holds=_never_restarts,
    ),
    *(_for_wrapped(rule) for rule in COMMAND_RULES),
)

"""What Hedgerow reads in a user's pod template, and which of its containers it wraps.

The template itself is carried as the user wrote it; these structs are views of it.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hedgerow_operator.api.labels import ANNOTATION_DEFAULT_CONTAINER
from hedgerow_operator.api.model import Model
from hedgerow_operator.api.spec import KubernetesSpec


class ContainerEnv(Model, frozen=True, kw_only=True):
    """One environment variable of a container."""

    name: Annotated[str, Meta(description="Name of the variable.", min_length=1, max_length=1024)]
    value: Annotated[str | None, Meta(description="Its value, unless valueFrom gives one.")] = None


class Lifecycle(Model, frozen=True, kw_only=True):
    """Hooks of a container."""

    pre_stop: Annotated[dict[str, Any] | None, Meta(description="Run before the container is asked to end.")] = None


class Container(Model, frozen=True, kw_only=True):
    """One container of the pod."""

    name: Annotated[str, Meta(description="Name of the container.", min_length=1, max_length=63)]
    image: Annotated[str | None, Meta(description="Image that it runs.")] = None
    command: Annotated[
        tuple[Annotated[str, Meta(max_length=65536)], ...],
        Meta(description="Program to run and its first arguments; needed in the wrapped container.", max_length=1024),
    ] = ()
    args: Annotated[
        tuple[Annotated[str, Meta(max_length=65536)], ...],
        Meta(description="More arguments, appended to command.", max_length=1024),
    ] = ()
    env: Annotated[tuple[ContainerEnv, ...], Meta(description="Environment variables.", max_length=1024)] = ()
    lifecycle: Annotated[Lifecycle | None, Meta(description="Hooks; a preStop hook gets time of its own.")] = None
    volume_mounts: Annotated[tuple[dict[str, Any], ...], Meta(description="What it sees of the volumes.")] = ()


class NodeSelector(Model, frozen=True, kw_only=True):
    """Which nodes a pod may run on."""

    node_selector_terms: Annotated[tuple[dict[str, Any], ...], Meta(description="Alternatives.")] = ()


class NodeAffinity(Model, frozen=True, kw_only=True):
    """How a pod is drawn to nodes."""

    required_during_scheduling_ignored_during_execution: Annotated[
        NodeSelector | None, Meta(description="Nodes that it may run on; excluded nodes are taken out of each term.")
    ] = None


class Affinity(Model, frozen=True, kw_only=True):
    """How a pod is placed."""

    node_affinity: Annotated[NodeAffinity | None, Meta(description="By the nodes themselves.")] = None


class PodSpec(Model, frozen=True, kw_only=True):
    """The pod's spec."""

    containers: Annotated[tuple[Container, ...], Meta(description="The pod's containers.", min_length=1, max_length=32)]
    restart_policy: Annotated[
        Annotated[str, Meta(max_length=32)] | None, Meta(description="Never, or unset: Hedgerow alone restarts ranks.")
    ] = None
    init_containers: Annotated[tuple[dict[str, Any], ...], Meta(description="Run after the one of Hedgerow.")] = ()
    volumes: Annotated[tuple[dict[str, Any], ...], Meta(description="The pod's volumes.")] = ()
    affinity: Annotated[Affinity | None, Meta(description="How the pod is placed.")] = None
    host_network: Annotated[bool, Meta(description="Use the node's own network.")] = False
    dns_policy: Annotated[Annotated[str, Meta(max_length=32)] | None, Meta(description="How names are looked up.")] = (
        None
    )
    termination_grace_period_seconds: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Seconds that the ranks are given to end, where longer than recovery.graceSeconds."),
    ] = None


class TemplateMetadata(Model, frozen=True, kw_only=True):
    """The pods' metadata."""

    labels: Annotated[dict[str, str], Meta(description="Labels of the pods.")] = msgspec.field(default_factory=dict)
    annotations: Annotated[
        dict[str, str],
        Meta(description=f"Annotations of the pods; {ANNOTATION_DEFAULT_CONTAINER} names the wrapped container."),
    ] = msgspec.field(default_factory=dict)


class PodTemplate(Model, frozen=True, kw_only=True):
    """Template of the workers' pods, as in a Kubernetes Job."""

    metadata: Annotated[TemplateMetadata, Meta(description="The pods' metadata.")] = TemplateMetadata()
    spec: Annotated[PodSpec, Meta(description="The pods' spec.")]


class Pods(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of ``spec.kubernetes``. container: as it is written there, empty where it is not."""

    template: PodTemplate
    container: str = ""

    @property
    def wrapped_name(self) -> str:
        """Name of the container whose command the launcher runs: the one named, the annotation's, else the first."""
        first = self.template.spec.containers[0].name
        return self.container or self.template.metadata.annotations.get(ANNOTATION_DEFAULT_CONTAINER, first)

    @property
    def wrapped(self) -> Container | None:
        """The container whose command the launcher runs; None when there is none of that name."""
        name = self.wrapped_name
        return next((container for container in self.template.spec.containers if container.name == name), None)


def read_pods(kubernetes: KubernetesSpec) -> Pods:
    """The typed view of ``spec.kubernetes``; msgspec.ValidationError when a field that is read has another type."""
    return Pods(template=msgspec.convert(kubernetes.template, PodTemplate), container=kubernetes.container)

"""A user's pod template, as the checks look at it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from hedgerow_operator.api.pod_template import read_pods
from hedgerow_operator.api.spec import TrainingJobSpec

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class PodView:
    """spec: of the pod. container: the one that trains."""

    spec: Fields
    container: Fields

    @classmethod
    def of(cls, spec: TrainingJobSpec) -> PodView:
        """The view of a job that has spec.kubernetes and keeps the rules."""
        assert spec.kubernetes is not None
        name = read_pods(spec.kubernetes).wrapped_name
        pod = spec.kubernetes.template["spec"]
        return cls(pod, next(entry for entry in pod["containers"] if entry["name"] == name))

    @property
    def containers(self) -> list[Fields]:
        """Every container, those of the beginning first."""
        return [*objects(self.spec, "initContainers"), *objects(self.spec, "containers")]

    @property
    def sidecars(self) -> list[str]:
        """Names of the containers beside the one that trains; restartable init containers are among them."""
        restartable = [
            entry for entry in objects(self.spec, "initContainers") if entry.get("restartPolicy") == "Always"
        ]
        others = [entry for entry in objects(self.spec, "containers") if entry is not self.container]
        return [str(entry.get("name")) for entry in (*restartable, *others)]

    def mount_of(self, path: str) -> Fields | None:
        """The innermost volumeMount of the container that trains which holds this path."""
        place = PurePosixPath(path)
        holding = [
            mount
            for mount in objects(self.container, "volumeMounts")
            if place.is_relative_to(PurePosixPath(str(mount.get("mountPath"))))
        ]
        return max(holding, key=lambda mount: len(PurePosixPath(str(mount["mountPath"])).parts), default=None)

    def volume(self, name: Any) -> Fields | None:
        """The volume of this name."""
        return next((entry for entry in objects(self.spec, "volumes") if entry.get("name") == name), None)

    def quantities(self, kind: str) -> Fields:
        """The container's resources.requests or resources.limits."""
        found = (self.container.get("resources") or {}).get(kind)
        return found if isinstance(found, dict) else {}


def objects(fields: Fields, name: str) -> list[Fields]:
    """The objects in a list of this name; what is none is passed over."""
    entries = fields.get(name)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def nested(fields: Any, *path: str) -> Any:
    """What lies at this path of objects; None where something on it is missing."""
    for name in path:
        fields = fields.get(name) if isinstance(fields, Mapping) else None
    return fields


def named(entries: list[Fields]) -> Iterator[str]:
    """The names of these objects."""
    return (str(entry["name"]) for entry in entries if entry.get("name"))

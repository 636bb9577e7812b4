"""Writes what is generated in charts/hedgerow: README.md (its table comes from the ``# --`` comments in values.yaml),
files/crds (copies of crds) and files/rbac.yaml (from the operator's table of rights).

Run ``python tools/chart_files.py`` after a change to any of these sources; a test compares.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from hedgerow_operator import rbac

REPOSITORY = Path(__file__).resolve().parents[1]
CHART = REPOSITORY / "charts" / "hedgerow"
INTRODUCTION = """# hedgerow

Installs the Hedgerow operator and the kinds TrainingJob, GPUNode and SlurmCluster. Helm 3.14 or newer, or Helm 4;
Kubernetes 1.30 or newer.

```
helm install hedgerow charts/hedgerow --namespace hedgerow-system --create-namespace
kubectl get trainingjobs -A
```

With `watchNamespaces` the operator has rights in those namespaces only. What lies outside of any namespace stays in a
small ClusterRole: reading nodes (is a silent worker's node silent too, or gone?), reviewing tokens (does a report come
from the worker that it is about?) and writing GPUNodes.

The CRDs are templates of the chart, so `helm upgrade` upgrades them; with `crds.keep` (the default) they, and every
TrainingJob and GPUNode, stay when the release is uninstalled.

Workers' images need nothing: an init container puts the launcher into each pod, with a small Python of its own (22 MB,
in an emptyDir). What that container may use is said by `inject.resources`, for namespaces with a quota or limits.

## The node agent

```
helm upgrade hedgerow charts/hedgerow --namespace hedgerow-system --reuse-values --set agent.enabled=true \\
  --set agent.nodeSelector."nvidia\\.com/gpu\\.present"=true
kubectl get gpunodes
```

Its pods are privileged, since the kernel's log and the GPUs are devices of the node, and see the node's processes,
which tells which rank is on which GPU; their namespace has to allow that (Pod Security `privileged`). Their
service account has no rights: its token only says which node it reports for. New attempts avoid a node whose GPU asks
for a reset, a reboot or a person, until `agent.quarantineSeconds` after that was last seen.

Where a dcgm-exporter runs already, it can stand in for the agent, and nothing more runs on the nodes:

```
helm upgrade hedgerow charts/hedgerow --namespace hedgerow-system --reuse-values --set agent.enabled=true \\
  --set agent.source=DCGMExporter --set agent.dcgmExporter.namespace=gpu-operator \\
  --set agent.dcgmExporter.selector=app=nvidia-dcgm-exporter
```

The operator then may list the pods of that namespace, asks each on its port (a network policy must let it), and says in
GPUNodes what they say.

## Values

| Key | Type | Default | Description |
|-----|------|---------|-------------|
"""


def rows(text: str) -> list[str]:
    """One row of the table for each documented value, in the order of the file."""
    values = YAML(typ="safe", pure=True).load(text)
    found, parents, comment = [], [], ""
    for line in text.splitlines():
        described = re.match(r"\s*# -- (.*)", line)
        entry = re.match(r"(\s*)([A-Za-z]+):", line)
        if described:
            comment = described[1]
        elif entry:
            parents = [*parents[: len(entry[1]) // 2], entry[2]]
            if comment:
                found.append(_row(parents, _at(values, parents), comment))
            comment = ""
    return found


def _at(values: Any, path: list[str]) -> Any:
    for name in path:
        values = values[name]
    return values


def _row(path: list[str], value: Any, comment: str) -> str:
    kinds = {bool: "bool", int: "int", str: "string", list: "list", dict: "object"}
    return f"| {'.'.join(path)} | {kinds[type(value)]} | `{json.dumps(value)}` | {comment} |"


def readme() -> str:
    """The whole README."""
    return INTRODUCTION + "\n".join(rows((CHART / "values.yaml").read_text())) + "\n"


def files() -> dict[str, str]:
    """Every generated file, by its path in the chart."""
    crds = {f"files/crds/{path.name}": path.read_text() for path in sorted((REPOSITORY / "crds").glob("*.yaml"))}
    return {"README.md": readme(), "files/rbac.yaml": rbac.render(), **crds}


if __name__ == "__main__":
    for name, content in files().items():
        (CHART / name).write_text(content)

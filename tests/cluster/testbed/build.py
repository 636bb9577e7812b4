"""Build every program of the cluster from its pinned Go module, once."""

import hashlib
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.testbed import toolchain
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.paths import GO_MODULES, cache
from tests.cluster.testbed.progress import say

STILL_BUILDING_SECONDS = 30


@dataclass(frozen=True)
class Program:
    """One binary: its name, the folder under go/ that pins it, and the Go package to build."""

    name: str
    module: str
    package: str
    tags: str = ""


def _kubernetes(name: str) -> Program:
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}")


def _containerd(name: str) -> Program:
    package = f"github.com/containerd/containerd/v2/cmd/{name}"
    return Program(name, "runtime", package, tags="no_btrfs,no_devmapper,no_zfs")


PROGRAMS = (
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kubelet"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubectl"),
    Program("etcd", "kubernetes", "go.etcd.io/etcd/server/v3"),
    _containerd("containerd"),
    _containerd("containerd-shim-runc-v2"),
    _containerd("ctr"),
    Program("coredns", "dns", "github.com/coredns/coredns"),
    Program("helm", "helm", "helm.sh/helm/v4/cmd/helm"),
)


def kubernetes_version() -> str:
    """The pinned version of Kubernetes, as v1.36.3."""
    text = (GO_MODULES / "kubernetes" / "go.mod").read_text()
    found = re.search(r"^(?:require)?\s+k8s\.io/kubernetes (v[\d.]+)", text, re.MULTILINE)
    if not found:
        raise ClusterError("go/kubernetes/go.mod names no version of k8s.io/kubernetes: add the require line.")
    return found[1]


def linker_flags(program: Program, version: str) -> str:
    """Flags for the linker. Kubernetes learns its version from them only; without it calls itself v0.0.0-master."""
    if not program.package.startswith("k8s.io/kubernetes/"):
        return "-s -w"
    major, minor = version.lstrip("v").split(".")[:2]
    stamp = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamp.items())


def command(go: Path, program: Program, target: Path) -> list[str]:
    """The build of one program."""
    tags = ["-tags", program.tags] if program.tags else []
    flags = ["-trimpath", "-buildvcs=false", *tags, "-ldflags", linker_flags(program, kubernetes_version())]
    return ["nice", "-n", "10", str(go), "build", *flags, "-o", str(target), program.package]


def key() -> str:
    """Twelve hex digits that change with every pin and every flag."""
    digest = hashlib.sha256()
    for path in sorted(GO_MODULES.glob("*/go.*")):
        digest.update(path.read_bytes())
    for program in PROGRAMS:
        digest.update(" ".join(command(Path("go"), program, Path("out"))).encode())
    return digest.hexdigest()[:12]


def binaries() -> Path:
    """The folder with every program; builds what is not there yet."""
    folder = cache() / f"kubernetes-{key()}"
    if _absent(folder):
        with exclusive(folder.with_suffix(".lock")):
            _build_all(folder, _absent(folder))
    return folder


def _absent(folder: Path) -> list[Program]:
    return [program for program in PROGRAMS if not (folder / program.name).exists()]


def _build_all(folder: Path, programs: list[Program]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    for number, program in enumerate(programs, start=1):
        elapsed = time.monotonic() - started
        label = f"{program.name} ({number} of {len(programs)}, {elapsed:.0f} s so far)"
        say(f"building {label}" + ("; the first time, about 10 minutes on two cores" if number == 1 else ""))
        _build(toolchain.go(), program, folder, label)


def _build(go: Path, program: Program, folder: Path, label: str) -> None:
    part, log = folder / f".{program.name}.part", folder / f"{program.name}.log"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off"}
    with log.open("wb") as output:
        build = subprocess.Popen(
            command(go, program, part),
            cwd=GO_MODULES / program.module,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        while _runs(build):
            say(f"still building {label}")
    if build.returncode != 0:
        words = log.read_text(errors="replace").strip()[-400:]
        raise ClusterError(f"Building {program.name} failed; all of its output is in {log}, the end of it is: {words}")
    part.replace(folder / program.name)
    log.unlink()


def _runs(build: "subprocess.Popen[bytes]") -> bool:
    try:
        build.wait(STILL_BUILDING_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    except BaseException:
        build.kill()
        build.wait()
        raise
    return False

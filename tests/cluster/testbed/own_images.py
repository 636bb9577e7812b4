"""The images of the operator and the agent, built from their Dockerfiles as for a release, on the small Debian instead
of python:3.12.

The build context is a copy of what the project's wheel is made of, with a folder wheels/ that holds Hedgerow's own
wheel and everything that it needs, for Python 3.11 on x86-64: inside the build nothing is fetched.
"""

import hashlib
import json
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.testbed.commands import run
from tests.cluster.testbed.images import AGENT_IMAGE, ARCHIVE, OPERATOR_IMAGE, Image, python
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.paths import REPOSITORY, cache
from tests.cluster.testbed.progress import step
from tests.cluster.testbed.requirements import OWN_MOUNTS

INGREDIENTS = ("operator", "agent", "examples/quickstart", "pyproject.toml", "constraints.txt", "README.md", "LICENSE")
IMAGES = {OPERATOR_IMAGE: "operator", AGENT_IMAGE: "agent"}  # by the folder of its Dockerfile
EXTRAS = ("operator", "agent", "gateway")
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64", "manylinux_2_34_x86_64")
_UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")


def own_images() -> Image:
    """The operator's and the agent's image as the sources are now, in one archive: they share their base."""
    digest = hashlib.sha256(python().key.encode() + Path(__file__).read_bytes())
    for path in _files():
        digest.update(str(path.relative_to(REPOSITORY)).encode() + b"\0" + path.read_bytes())
    return Image("localhost/hedgerow", digest.hexdigest()[:12], _write, keep=False)


def _files() -> Iterator[Path]:
    for name in INGREDIENTS:
        top = REPOSITORY / name
        inside = sorted(top.rglob("*")) if top.is_dir() else [top]
        yield from (path for path in inside if path.is_file() and path.suffix != ".pyc")


def _write(folder: Path) -> None:
    base = python().archive()
    context, storage, joined = folder / "context", folder / "storage", folder / "joined"
    joined.mkdir()
    _copy_sources(context)
    shutil.copytree(_dependencies(), context / "wheels")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run([*pip, "--wheel-dir", context / "wheels", context])
    folders = ["--root", str(storage / "root"), "--runroot", str(storage / "run")]
    buildah = [*OWN_MOUNTS, "buildah", "--storage-driver", "overlay", *folders]
    build = ["bud", "--isolation", "chroot", "--build-arg", f"BASE=oci-archive:{base}"]
    manifests = []
    for reference, name in IMAGES.items():
        run([*buildah, *build, "-f", context / name / "Dockerfile", "-t", reference, context])
        # This form of archive is the one that buildah leaves uncompressed; containerd reads both.
        part = folder / f"{name}.tar"
        run([*buildah, "push", reference, f"docker-archive:{part}:{reference}"])
        run(["tar", "-C", joined, "-xf", part])
        manifests += json.loads((joined / "manifest.json").read_text())
    (joined / "manifest.json").write_text(json.dumps(manifests))
    run(["tar", "-C", joined, "-cf", folder / ARCHIVE, "."])


def _copy_sources(context: Path) -> None:
    for name in INGREDIENTS:
        source, copy = REPOSITORY / name, context / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=_UNWANTED)
        elif source.exists():
            shutil.copy(source, copy)


def _dependencies() -> Path:
    """A folder with the wheels of everything that Hedgerow needs; fetched when a requirement changes."""
    requirements, constraints = _requirements(), REPOSITORY / "constraints.txt"
    pins = constraints.read_bytes() if constraints.exists() else b""
    key = hashlib.sha256("\n".join([*requirements, *PLATFORMS]).encode() + pins).hexdigest()[:12]
    folder = cache() / "wheels" / key
    with exclusive(folder.with_suffix(".lock")):
        if not folder.exists():
            with (
                step("fetching the wheels of the images of Hedgerow"),
                tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part,
            ):
                run([*_download(part, constraints), *requirements])
                shutil.copytree(part, folder)
    return folder


def _requirements() -> list[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(word for name in EXTRAS for word in extras[name])]


def _download(folder: str, constraints: Path) -> list[str]:
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    pinned = ["--constraint", str(constraints)] if constraints.exists() else []
    target = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11", *platforms]
    return [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, *target, *pinned]

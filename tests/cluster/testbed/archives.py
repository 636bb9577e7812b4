"""Pack a root file system as an OCI image archive: one layer, one configuration, one manifest."""

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.testbed.commands import run

KIND = "application/vnd.oci.image"
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def pack(rootfs: Path, reference: str, target: Path, command: Sequence[str] = ("/bin/sh",)) -> None:
    """Write `rootfs` as an OCI archive named `reference` to `target`, with a scratch file beside it."""
    layer = target.with_name("layer.tar")
    skipped = [f"--exclude=./{name}/*" for name in ("dev", "proc", "sys", "run", "tmp")]
    run(["tar", "-C", rootfs, *skipped, "--numeric-owner", "-cf", layer, "."])
    with tarfile.open(target, "w") as archive:
        _write(archive, layer, reference, command)
    layer.unlink()


def _write(archive: tarfile.TarFile, layer: Path, reference: str, command: Sequence[str]) -> None:
    with layer.open("rb") as content:
        digest = f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    archive.add(layer, arcname=_blob_path(digest))
    rootfs = {"type": "layers", "diff_ids": [digest]}
    process = {"Env": [f"PATH={SEARCH_PATH}"], "Cmd": list(command)}
    config = {"architecture": "amd64", "os": "linux", "rootfs": rootfs, "config": process}
    layers = [{"mediaType": f"{KIND}.layer.v1.tar", "digest": digest, "size": layer.stat().st_size}]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{KIND}.manifest.v1+json",
        "config": _add_blob(archive, "config", config),
        "layers": layers,
    }
    named = {"annotations": {"io.containerd.image.name": reference}}
    index = {"schemaVersion": 2, "manifests": [{**_add_blob(archive, "manifest", manifest), **named}]}
    _add(archive, "index.json", json.dumps(index).encode())
    _add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')


def _add_blob(archive: tarfile.TarFile, what: str, content: object) -> dict[str, object]:
    data = json.dumps(content).encode()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    _add(archive, _blob_path(digest), data)
    return {"mediaType": f"{KIND}.{what}.v1+json", "digest": digest, "size": len(data)}


def _blob_path(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _add(archive: tarfile.TarFile, path: str, data: bytes) -> None:
    member = tarfile.TarInfo(path)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))

"""The cluster's certificate authority, one certificate a component, and kubeconfigs."""

import base64
import json
from pathlib import Path

from tests.cluster.testbed.commands import run

DAYS = "30"
_EMPTY_CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"


class Authority:
    """A certificate authority in `folder`, for a cluster that answers at `server`."""

    def __init__(self, folder: Path, server: str) -> None:
        self.folder, self.server = folder, server
        self.certificate, self.key = folder / "ca.crt", folder / "ca.key"
        self.signing_key = folder / "service-accounts.key"
        folder.mkdir(parents=True, exist_ok=True)
        # Our own file: openssl's default one would mark every certificate as an authority.
        self._configuration = folder / "openssl.cnf"
        self._configuration.write_text(_EMPTY_CONFIGURATION)
        self._make("ca", "/CN=test-cluster-ca", ["basicConstraints=critical,CA:TRUE"], signed=False)
        # Not genpkey: the API server reads an EC key in its old form only.
        run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.signing_key])

    def issue(self, name: str, subject: str, alternatives: str = "IP:127.0.0.1") -> tuple[Path, Path]:
        """Make certificate and key `name` for `subject` (/O=group/CN=user); returns their paths."""
        extensions = ["basicConstraints=critical,CA:FALSE", f"subjectAltName={alternatives}"]
        self._make(name, subject, extensions, signed=True)
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    def kubeconfig(self, name: str, subject: str, alternatives: str = "IP:127.0.0.1") -> Path:
        """Issue a client certificate and write a kubeconfig that holds it whole; returns its path."""
        certificate, key = self.issue(name, subject, alternatives)
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(json.dumps(kubeconfig(self.server, self.certificate, certificate, key), indent=1))
        path.chmod(0o600)
        return path

    def _make(self, name: str, subject: str, extensions: list[str], *, signed: bool) -> None:
        command: list[str | Path] = ["openssl", "req", "-x509", "-config", self._configuration, "-nodes", "-days", DAYS]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", subject]
        command += ["-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.crt"]
        if signed:
            command += ["-CA", self.certificate, "-CAkey", self.key]
        for extension in extensions:
            command += ["-addext", extension]
        run(command)


def kubeconfig(server: str, authority: Path, certificate: Path, key: Path) -> dict[str, object]:
    """The content of a kubeconfig with embedded certificates."""

    def embedded(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    user = {"client-certificate-data": embedded(certificate), "client-key-data": embedded(key)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "clusters": [
            {"name": "test", "cluster": {"server": server, "certificate-authority-data": embedded(authority)}}
        ],
        "users": [{"name": "test", "user": user}],
    }

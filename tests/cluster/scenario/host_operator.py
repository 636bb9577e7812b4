"""The operator as a process of the test, with the rights of the installed one, so that it can be killed at any call.

Its lives are forked from a server that has imported it already: starting one takes a tenth of a second, so that many
lives fit into one test.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import uuid
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import OPERATOR_IMAGE
from tests.cluster.testbed.network import CONTROL_PLANE

TOKEN_HOURS = "2h"
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["hedgerow_operator.main", "hedgerow_operator.process", __name__])


class HostOperator:
    """`hedgerow-operator` for one namespace, at a report address that stays the same from life to life.

    It reaches the API server at `server`, as the ServiceAccount that the chart has made. `lives` counts its starts.
    """

    def __init__(self, cluster: Cluster, namespace: str, server: str, report_port: int) -> None:
        self._cluster, self._namespace, self._server = cluster, namespace, server
        self._port = report_port
        self._folder = cluster.site.work / "operators" / uuid.uuid4().hex[:8]
        self._folder.mkdir(parents=True)
        self.log = self._folder / "operator.log"
        self.lives = 0
        self.lease = f"host-{uuid.uuid4().hex[:8]}"
        self._process: ForkServerProcess | None = None
        self._kubeconfig = self._write_kubeconfig()

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.is_alive()

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.exitcode if self._process else None

    def start(self, *, new_lease: bool = False) -> None:
        """Start it. `new_lease`: by another Lease than before, because the life before is known to be over and nobody
        need wait until its term has run out."""
        if new_lease:
            self.lease = f"host-{uuid.uuid4().hex[:8]}"
        self.lives += 1
        environment = {"KUBECONFIG": str(self._kubeconfig), "HOSTNAME": f"life-{self.lives}"}
        self._process = _FORKS.Process(target=_live, args=(self._arguments(), environment, str(self.log)), daemon=True)
        self._process.start()

    def signal(self, name: str) -> None:
        """Send it a signal by its short name (KILL, STOP, CONT ...)."""
        if self._process is not None and self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.Signals[f"SIG{name}"])

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal("KILL")
        if self._process is not None:
            self._process.join(10)

    def _arguments(self) -> list[str]:
        return [
            f"--namespace={self._namespace}",
            f"--report-url=http://{CONTROL_PLANE}:{self._port}",
            f"--listen-port={self._port}",
            f"--inject-image={OPERATOR_IMAGE}",
            "--inject-pull-policy=Never",
            f"--lease-namespace={hedgerow.NAMESPACE}",
            f"--lease-name={self.lease}",
        ]

    def _write_kubeconfig(self) -> Path:
        token = self._cluster.kubectl(
            "-n", hedgerow.NAMESPACE, "create", "token", hedgerow.RELEASE, f"--duration={TOKEN_HOURS}"
        ).strip()
        ca = str(self._cluster.site.certificates / "ca.crt")
        server = {"server": self._server, **({"certificate-authority": ca} if self._server.startswith("https") else {})}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": server}],
            "users": [{"name": "operator", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "operator"}}],
            "current-context": "test",
        }
        path = self._folder / "kubeconfig"
        path.write_text(json.dumps(content))
        path.chmod(0o600)
        return path


def _live(arguments: list[str], environment: dict[str, str], log: str) -> None:
    """One life, in a process of its own: what `hedgerow-operator ARGUMENTS` does."""
    from hedgerow_operator.main import main

    os.environ.update(environment)
    with open(log, "ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    main(arguments)

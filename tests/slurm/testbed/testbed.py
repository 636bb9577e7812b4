"""The testbed as tests use it: commands, daemons by name, the REST interface, and what really runs."""

import os
import pwd
import shlex
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.testbed import processes
from tests.slurm.testbed import configuration, places, requirements
from tests.slurm.testbed.configuration import NODES
from tests.slurm.testbed.daemon import Daemon
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.namespace import Namespace, last_words
from tests.slurm.testbed.places import Places
from tests.slurm.testbed.waiting import wait_for


class Testbed:
    """One Slurm cluster. Names of daemons: munged, slurmctld, slurmd.n1 … slurmd.n4, slurmrestd.

    environment: what Slurm's commands need beside PATH; jobs: a folder for scripts and output.
    """

    __test__ = False

    def __init__(self, paths: Places, ports: Sequence[int], host: str) -> None:
        self.places, self.jobs, self._host = paths, paths.jobs, host
        self._controller_port, self._rest_port, *self._node_ports = ports
        self.environment = {"SLURM_CONF": str(paths.slurm_conf), "PATH": requirements.PATH}
        self._namespace = Namespace(paths.root)
        self._daemons = {name: self._daemon(name, words) for name, words in self._commands().items()}

    @classmethod
    def start(cls, host: str = "127.0.0.1", **changes: str) -> "Testbed":
        """A running cluster with four idle nodes. host: where slurmrestd listens; changes: of slurm.conf."""
        sentence = requirements.missing()
        if sentence:
            raise TestbedError(sentence)
        with places.one_at_a_time():
            ports = places.free_ports(2 + len(NODES))
            testbed = cls(places.make(), ports, host)
            try:
                configuration.write(testbed.places, ports[0], ports[2:], changes)
                testbed.up()
                wait_for("four idle nodes", testbed._nodes_are_idle)
            except BaseException:
                testbed.close()
                raise
        return testbed

    def close(self) -> None:
        """End every process and remove the folder."""
        self._namespace.close()

    def up(self) -> None:
        """Start every daemon that does not run, wake those that are frozen, and wait until they answer."""
        for name, daemon in self._daemons.items():
            daemon.start()
            daemon.thaw()
            if name == "munged":
                wait_for("munged's socket", self.places.munge_socket.exists)
        wait_for("slurmctld to answer", lambda: self._answers("slurmctld", self._controller_port))
        wait_for("slurmrestd to answer", lambda: self._answers("slurmrestd", self._rest_port, self._host))

    # What is done to daemons.

    def daemon(self, name: str) -> Daemon:
        """A daemon by its name."""
        return self._daemons[name]

    def start_daemon(self, name: str) -> None:
        """Start it; it may need a moment before it serves."""
        self._daemons[name].start()

    def stop(self, name: str) -> None:
        """Let it end in order."""
        self._daemons[name].stop()

    def kill(self, name: str) -> None:
        """SIGKILL. What it has started (slurmstepd, and ranks below) lives on."""
        self._daemons[name].kill()

    def freeze(self, name: str) -> None:
        """SIGSTOP."""
        self._daemons[name].freeze()

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        self._daemons[name].thaw()

    def kill_node(self, node: str) -> None:
        """The whole machine dies: slurmd and every process on it."""
        self.kill(f"slurmd.{node}")
        wait_for(f"everything on {node} to end", lambda: not self._killed_on(node))

    def lose_state(self) -> None:
        """The controller dies and comes back without what it knew: ids begin with 1 again."""
        self.kill("slurmctld")
        for path in self.places.state.iterdir():
            if path.is_file() and path != self.places.jwt_key:
                path.unlink()
        self.up()

    # What users do.

    def run(
        self,
        command: str | Sequence[str],
        *,
        user: str | None = None,
        check: bool = True,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> str:
        """Run a command where Slurm's commands work, a string by the shell; what it prints without the last line end.

        TestbedError with what it says when it fails, unless `check` is False; then stdout and stderr come together.
        """
        words = ["sh", "-c", command] if isinstance(command, str) else list(command)
        if user is not None:
            words = _as(user, words)
        done = subprocess.run(
            words,
            cwd=cwd or self.jobs,
            env={**os.environ, **self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if check else subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise TestbedError(f"{shlex.join(words)[:200]} exited with {done.returncode}: {done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def token(self, user: str = "root", lifespan: int = 3600) -> str:
        """A token for slurmrestd. lifespan: seconds."""
        return self.run(f"scontrol token username={user} lifespan={lifespan}").removeprefix("SLURM_JWT=")

    @property
    def rest_url(self) -> str:
        """Where slurmrestd listens."""
        return f"http://{self._host}:{self._rest_port}"

    def processes_of(self, **environment: str) -> list[int]:
        """The live processes that have these variables, such as SLURM_JOB_ID="12": what really runs of a job."""
        wanted = {f"{name}={value}".encode() for name, value in environment.items()}
        return [pid for pid in self._namespace.processes() if wanted <= _environment(pid)]

    def environments(self) -> list[dict[bytes, bytes]]:
        """The variables of each live process."""
        return [entries(block) for block in self._namespace.environments()]

    def heal(self) -> None:
        """Bring back what a test has broken: every daemon runs, no job is left, every node is idle."""
        self.up()
        wait_for("all jobs to end", self._jobs_cancelled, 60)
        wait_for("what is left of jobs to end", lambda: not self._killed_of_jobs())
        wait_for("four idle nodes", self._resumed, 60)

    def seen(self) -> str:
        """Jobs and nodes as Slurm has them, and what the controller said last: for whoever waits in vain."""
        jobs, nodes = "squeue --states=all --format='%i %T %r %E %N %Z'", "sinfo --Node --format='%N %T %E'"
        shown = self.run(f"{jobs}; {nodes}", check=False)
        return f"{shown}\n{last_words(self.places.log / 'slurmctld.log')}"

    # Inside.

    def _nodes_are_idle(self) -> bool:
        for daemon in self._daemons.values():
            daemon.check()
        return self.run("sinfo --noheader --Node --format=%T").split() == ["idle"] * len(NODES)

    def _killed_on(self, node: str) -> list[int]:
        found = self.processes_of(HEDGEROW_TESTBED_NODE=node) + self.processes_of(SLURMD_NODENAME=node)
        for pid in found:
            processes.send(pid, "KILL")
        return found

    def _killed_of_jobs(self) -> list[int]:
        """What left its session, and orphans of a slurmd that was killed."""
        found = [
            pid
            for pid in self._namespace.processes()
            if any(entry.startswith(b"SLURM_JOB_ID=") for entry in _environment(pid))
        ]
        for pid in found:
            processes.send(pid, "KILL")
        return found

    def _jobs_cancelled(self) -> bool:
        # Again and again: a controller that was frozen may only now read what was submitted to it meanwhile.
        self.run("squeue --noheader --format=%A | xargs --no-run-if-empty scancel --quiet", check=False)
        return not self.run("squeue --noheader")

    def _resumed(self) -> bool:
        for node in self.run("sinfo --noheader --Node --states=drain,down,fail --format=%N").split():
            self.run(f"scontrol update nodename={node} state=resume", check=False)  # it may be idle by now
        return self._nodes_are_idle()

    def _answers(self, name: str, port: int, host: str = "127.0.0.1") -> bool:
        self._daemons[name].check()
        with socket.socket() as probe:
            return probe.connect_ex((host, port)) == 0

    def _daemon(self, name: str, words: list[str]) -> Daemon:
        environment = {**self.environment, "HEDGEROW_TESTBED_NODE": name.partition(".")[2], "SLURM_JWT": "daemon"}
        if name != "slurmrestd":
            del environment["SLURM_JWT"]
        return Daemon(name, words, environment, self.places.log / f"{name}.log", self._namespace)

    def _commands(self) -> dict[str, list[str]]:
        munged = ["munged", "--foreground", f"--socket={self.places.munge_socket}"]
        munged += [f"--key-file={self.places.munge_key}", f"--pid-file={self.places.munge_socket.parent}/pid"]
        munged += [f"--seed-file={self.places.munge_key.parent}/seed"]
        # Without -s it looks for slurmdbd, which is not there.
        restd = ["slurmrestd", "-s", "openapi/v0.0.38", "-a", "rest_auth/jwt", f"{self._host}:{self._rest_port}"]
        return {
            "munged": _as("munge", munged),
            "slurmctld": ["slurmctld", "-D"],
            **{f"slurmd.{node}": ["slurmd", "-D", "-N", node] for node in NODES},
            "slurmrestd": _as(requirements.REST_USER, restd),
        }


def _as(user: str, words: list[str]) -> list[str]:
    group = str(pwd.getpwnam(user).pw_gid)
    return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--", *words]


def entries(block: bytes) -> dict[bytes, bytes]:
    """The variables in what the kernel has of a process' environment."""
    return dict(entry.split(b"=", 1) for entry in block.split(b"\0") if b"=" in entry)


def _environment(pid: int) -> set[bytes]:
    try:
        return set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    except (FileNotFoundError, ProcessLookupError):
        return set()

"""Run a command in namespaces of its own, with everything that the cluster needs prepared outside before."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.testbed import build, images, init, requirements, runs, stores
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.foreign import foreign
from tests.cluster.testbed.own_images import own_images
from tests.cluster.testbed.paths import REPOSITORY, cache
from tests.cluster.testbed.prepared import VARIABLE, Prepared
from tests.cluster.testbed.progress import say


def prepare(*, operator: bool = True) -> tuple[Path, list[Path]]:
    """Make everything that needs the network: (the folder of programs, the image stores).

    A run inside another one takes what that has: the sources may have changed since, and there is no network.
    Without `operator` Hedgerow's own images are left out, for work on the cluster while the sources do not build.
    """
    if VARIABLE in os.environ:
        outer = Prepared.load()
        return outer.programs, [outer.store]
    missing = requirements.missing()
    if missing:
        raise ClusterError(missing[0])
    programs = build.binaries()
    own = [own_images()] if operator else []
    chain = stores.ensure(programs, [*images.base(), foreign(), *own])
    return programs, chain


def run(command: Sequence[str], *, operator: bool = True) -> int:
    """Run `command` inside and return its exit status. Nothing of it is left behind."""
    programs, chain = prepare(operator=operator)
    runs.remove_leftovers()
    held = stores.hold(chain)
    stores.prune()
    folder, lock = runs.create()
    Prepared(folder, programs, chain[-1]).save()
    end, begin = os.pipe()
    reaper = subprocess.Popen(
        [sys.executable, "-m", "tests.cluster.testbed.reaper", str(end), str(folder)],
        cwd=REPOSITORY,
        pass_fds=(end, lock, *held),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        status = _run_inside(command, programs, folder)
        if status != 0:
            _keep_logs(folder)
        return status
    finally:
        os.close(begin)
        reaper.wait()
        for descriptor in (end, lock, *held):
            os.close(descriptor)


def _run_inside(command: Sequence[str], programs: Path, folder: Path) -> int:
    environment = {**os.environ, VARIABLE: str(folder), "PATH": f"{programs}:{os.environ['PATH']}"}
    # setpriv: the kernel kills unshare when we die, and with it the first process inside, and so all of them.
    guarded = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        *requirements.ISOLATE,
        sys.executable,
        "-m",
        init.__name__,
        "--",
        *command,
    ]
    process = subprocess.Popen(guarded, cwd=REPOSITORY, env=environment)
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command inside
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, interrupted)


def _keep_logs(folder: Path) -> None:
    target = cache() / "last-failure"
    shutil.rmtree(target, ignore_errors=True)
    for log in folder.rglob("*.log"):
        path = target / log.relative_to(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, path)
    say(f"the logs of the cluster are in {target}")

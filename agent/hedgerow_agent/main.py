"""The command `hedgerow-agent`: one look, or a look a second for as long as it lives."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

from hedgerow.machine import boottime
from hedgerow.plain import plain
from hedgerow.wire_agent import AgentReport
from hedgerow_agent import expected, metrics, printing
from hedgerow_agent.agent import Agent
from hedgerow_agent.devices.base import Source
from hedgerow_agent.host import host_checks
from hedgerow_agent.kernel_log.events import Events
from hedgerow_agent.kernel_log.sources import source as kernel_log
from hedgerow_agent.log import say
from hedgerow_agent.options import Options, parse
from hedgerow_agent.reporter import Address, Reporter
from hedgerow_agent.server import Server

RELEASE_SECONDS = 120.0
ONCE_SECONDS = 8.0
# A loop that has not come round for so long hangs: /healthz says so, and the kubelet starts the agent anew.
_STUCK_SECONDS = 60.0


def main(words: Sequence[str] | None = None) -> int:
    """Run; returns the exit code."""
    options = parse(sys.argv[1:] if words is None else words)
    try:
        agent = make_agent(options)
        if options.once:
            return _once(agent, options)
        return Loop(agent, options).run()
    except ValueError as error:
        say(str(error))
        return 2
    except OSError as error:
        say(f"the agent cannot begin: {error}")
        return 1


def make_agent(options: Options) -> Agent:
    """The agent that these options describe."""
    played: Callable[[], list[str]] | None = None
    source: Source
    if options.devices.startswith("fake:"):
        from hedgerow_agent.devices.fake import FakeSource

        source = fake = FakeSource(options.devices.removeprefix("fake:"), boottime, options.node, options.host_root)
        played, load = fake.kernel_lines, fake.load
        known: Callable[[], tuple[int | None, list[str]]] = lambda: (fake.expected(), [])  # noqa: E731
    else:
        from hedgerow_agent.devices.nvml import NvmlSource

        source = NvmlSource()
        root = options.host_root
        load = lambda: expected.driver_load(root)  # noqa: E731
        known = lambda: _known(expected.addresses(root))  # noqa: E731
    log = kernel_log(options.kernel_log, played, from_start=options.once)
    host = host_checks(options.checkpoint_paths)
    agent = Agent(options.node, source, log, host, boottime, known, load, options.host_root)
    agent.events = Events(options.hold_seconds)
    return agent


def _known(addresses: list[str] | None) -> tuple[int | None, list[str]]:
    return (None, []) if addresses is None else (len(addresses), addresses)


def _once(agent: Agent, options: Options) -> int:
    agent.tick(ONCE_SECONDS)
    if options.devices == "nvml" and len(agent.gpus):
        # What multiprocessors did is known between two looks only.
        time.sleep(options.sample_seconds)
        agent.tick(ONCE_SECONDS)
    report = agent.report()
    agent.close()
    if options.output == "json":
        print(json.dumps(plain(report), indent=2))  # noqa: T201
    else:
        print("\n".join(printing.lines(report)))  # noqa: T201
    sys.stdout.flush()
    # A thread that a hung driver holds must not hold us.
    os._exit(0)


class Loop:
    """The agent for as long as the process lives."""

    def __init__(self, agent: Agent, options: Options) -> None:
        self._agent = agent
        self._options = options
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._release = threading.Event()
        self._ticked = boottime()
        self._trouble = agent.lister.trouble
        self._reporter: Reporter | None = None

    def run(self) -> int:
        """Look, report and serve until told to end."""
        options = self._options
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._ended.set())
        signal.signal(signal.SIGUSR1, lambda *_: self._release.set())
        if options.metrics_address:
            server = Server(options.metrics_address, self._metrics, self._stuck)
            say(f"metrics are served at port {server.port}")
        with self._lock:
            # The first report already knows what there is.
            self._agent.tick(ONCE_SECONDS)
        if options.report_url or options.address_file:
            address = Address(options.report_url, options.address_file)
            self._reporter = Reporter(
                address, options.token_file, options.ca_file, options.report_seconds, self._report
            )
            self._reporter.start()
        elif not options.metrics_address:
            raise ValueError(
                "nobody would hear: give --report-url, --address-file or --metrics-address, or --once for one look"
            )
        due = time.monotonic()
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            due = max(due + options.sample_seconds, time.monotonic())
            self._look()
        self._agent.close()
        os._exit(0)

    def _look(self) -> None:
        agent = self._agent
        if self._release.is_set():
            self._release.clear()
            agent.lister.release(boottime(), RELEASE_SECONDS)
        with self._lock:
            changed = agent.tick()
        self._ticked = boottime()
        if agent.lister.trouble != self._trouble:
            self._trouble = agent.lister.trouble
            say(self._trouble or "the driver answers")
        if changed and self._reporter is not None:
            self._reporter.report_now()
        if agent.lister.outdated:
            say("the driver was changed under this process: it begins anew, with the library that fits")
            with contextlib.suppress(OSError):
                os.execv(sys.executable, [sys.executable, "-m", "hedgerow_agent", *sys.argv[1:]])  # noqa: S606

    def _report(self) -> AgentReport:
        with self._lock:
            return self._agent.report()

    def _metrics(self) -> str:
        with self._lock:
            return metrics.text(self._agent.report(numbered=False))

    def _stuck(self) -> str:
        silent = boottime() - self._ticked
        return f"no look for {silent:.0f} s" if silent > _STUCK_SECONDS else ""

"""The launcher's options: command line first, then environment, then defaults; bad input is one clear sentence."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, List, Mapping, NoReturn, Optional, Tuple

from hedgerow import environment, launch_mode
from hedgerow.logs.reader import AUTO, AutoReader
from hedgerow.slurm import launch as slurm_launch
from hedgerow.slurm import step as slurm_step
from hedgerow.wire import JobRef

VERIFY_CONTENT = "Content"
VERIFY_SIZE = "Size"
VERIFY_MARKERS = "Markers"
MOVE_ASIDE = "MoveAside"
LEAVE = "Leave"
# Every rank sees the GPUs of its worker, or only its own share of them.
GPUS_PER_WORKER = "PerWorker"
GPUS_PER_RANK = "PerRank"


_NO_JOB = JobRef("", "", "")


class UsageError(Exception):
    """What is wrong with the input, where, and what to write instead."""


class Unwatchable(UsageError):
    """This step of Slurm cannot be watched, and is to run as it would without us; the text says why."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What one launcher was told. A time of 0 for ``fence_seconds`` means: never fence by time.

    step: the step of Slurm that says which worker this is, None elsewhere; slurm_launch: which part of it, then.
    own_place: ranks that srun has started find their place, and each other, without RANK, MASTER_ADDR and the like.
    """

    command: Tuple[str, ...]
    processes: str = launch_mode.PER_RANK
    nproc: int = 1
    worker: int = 0
    workers: int = 1
    placement: int = 1
    report_url: str = ""
    address_file: str = ""
    token_file: str = ""
    ca_file: str = ""
    job: JobRef = _NO_JOB
    node: str = ""
    address: str = ""
    checkpoint_directory: str = ""
    checkpoint_verify: str = VERIFY_CONTENT
    checkpoint_on_invalid: str = MOVE_ASIDE
    heartbeat_source: str = environment.SOURCE_AUTO
    log_pattern: str = ""
    fence_seconds: float = 120.0
    grace_seconds: float = 30.0
    master_port: int = 0
    temporary: str = ""
    gpus: str = GPUS_PER_WORKER
    mpi: str = ""
    slurm_launch: str = ""
    own_place: bool = False
    step: Optional[slurm_step.Step] = None

    @property
    def per_task(self) -> bool:
        """Whether srun has started each rank here, beside a launcher of its own."""
        return self.step is not None and self.slurm_launch == slurm_launch.PER_TASK

    @property
    def prints_with_others(self) -> bool:
        """Whether what a rank here prints comes out beside what other ranks print, as srun brings it together."""
        return self.nproc > 1 or (self.step is not None and self.workers > 1)

    @property
    def starts_once(self) -> bool:
        """Whether the ranks here find each other by what srun --mpi gives to its tasks, which serves one start."""
        return self.per_task and self.mpi not in ("", "none")

    @property
    def has_operator(self) -> bool:
        """Whether there is anybody to report to."""
        return bool(self.report_url or self.address_file)


@dataclasses.dataclass(frozen=True)
class _Option:
    field: str
    flag: str
    variables: Tuple[str, ...]
    kind: Any
    help: str
    choices: Tuple[str, ...] = ()
    least: float = 0


_OPTIONS = (
    _Option(
        "processes",
        "--processes",
        (environment.PROCESSES,),
        launch_mode.named,
        "whether the command is started for each rank, or once and starts the ranks itself",
        choices=launch_mode.MODES,
    ),
    _Option("nproc", "--nproc-per-worker", (environment.NPROC,), int, "ranks to start here", least=1),
    _Option(
        "worker",
        "--worker",
        (environment.WORKER, environment.COMPLETION_INDEX),
        int,
        "number of this worker, from 0",
    ),
    _Option("workers", "--workers", (environment.WORKERS,), int, "workers of the job", least=1),
    _Option("placement", "--placement", (environment.PLACEMENT,), int, "first attempt of this placement", least=1),
    _Option("report_url", "--report-url", (environment.REPORT_URL,), str, "where to report"),
    _Option("address_file", "--address-file", (environment.ADDRESS_FILE,), str, "file that holds that URL"),
    _Option("token_file", "--token-file", (environment.TOKEN_FILE,), str, "file that holds the token to report with"),
    _Option("ca_file", "--ca-file", (environment.CA_FILE,), str, "certificates to trust for an https URL"),
    _Option("node", "--node", (environment.NODE,), str, "name of this node"),
    _Option("address", "--address", (environment.ADDRESS,), str, "address that other workers reach this one at"),
    _Option(
        "checkpoint_directory",
        "--checkpoint-directory",
        (environment.CHECKPOINT_DIRECTORY,),
        str,
        "where the script writes checkpoints",
    ),
    _Option(
        "checkpoint_verify",
        "--checkpoint-verify",
        (environment.CHECKPOINT_VERIFY,),
        str,
        "how closely to look at checkpoints",
        choices=(VERIFY_CONTENT, VERIFY_SIZE, VERIFY_MARKERS),
    ),
    _Option(
        "checkpoint_on_invalid",
        "--checkpoint-on-invalid",
        (environment.CHECKPOINT_ON_INVALID,),
        str,
        "what becomes, before a start, of invalid checkpoints newer than the one to start from",
        choices=(MOVE_ASIDE, LEAVE),
    ),
    _Option(
        "heartbeat_source",
        "--heartbeat-source",
        (environment.HEARTBEAT_SOURCE,),
        str,
        "where progress comes from",
        choices=environment.SOURCES,
    ),
    _Option(
        "log_pattern",
        "--log-pattern",
        (environment.LOG_PATTERN,),
        str,
        "regular expression with named groups for the lines that tell progress",
    ),
    _Option("fence_seconds", "--fence-seconds", (environment.FENCE_SECONDS,), float, "time to live without news"),
    _Option("grace_seconds", "--grace-seconds", (environment.GRACE_SECONDS,), float, "time between TERM and KILL"),
    _Option("master_port", "--master-port", (environment.MASTER_PORT,), int, "MASTER_PORT; 0: pick a free one"),
    _Option("temporary", "--temporary", (environment.TEMPORARY,), str, "folder for heartbeat files"),
    _Option(
        "gpus",
        "--gpus",
        (environment.GPUS,),
        str,
        "whether a rank sees all GPUs of its worker, or its share of them",
        choices=(GPUS_PER_WORKER, GPUS_PER_RANK),
    ),
    _Option("mpi", "--mpi", (environment.MPI,), str, "what srun --mpi says, where the ranks use it"),
    _Option(
        "slurm_launch",
        "--slurm-launch",
        (environment.SLURM_LAUNCH,),
        slurm_launch.named,
        "whether srun starts one launcher for each node, or for each rank",
        choices=slurm_launch.LAUNCHES,
    ),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError("%s; write `hedgerow run [OPTIONS] -- COMMAND`, `hedgerow run --help` lists them" % message)


def parse(arguments: List[str], variables: Mapping[str, str]) -> Options:
    """The options in ``arguments`` (without ``run``) and ``variables``; UsageError says what is wrong."""
    own, command = _split(arguments)
    given = vars(_parser().parse_args(own))
    values = {option.field: _value(option, given[option.field], variables) for option in _OPTIONS}
    values["processes"] = values["processes"] or launch_mode.default_mode(command)
    values.update(_in_step(values, command, variables))
    job = JobRef(
        variables.get(environment.JOB_UID, ""),
        variables.get(environment.JOB_NAMESPACE, ""),
        variables.get(environment.JOB_NAME, ""),
    )
    options = Options(
        command=tuple(command), job=job, **{field: value for field, value in values.items() if value is not None}
    )
    _check(options)
    return options


def _in_step(values: Mapping[str, Any], command: List[str], variables: Mapping[str, str]) -> Mapping[str, Any]:
    """What follows from being a task of Slurm, unless somebody has said which worker this is."""
    step = slurm_step.read(variables) if values["worker"] is None else None
    automatic = values["slurm_launch"] == slurm_launch.AUTO
    if step is None:
        if automatic and values["worker"] is None:
            raise Unwatchable("srun does not tell this task its place")
        return {}
    starts_ranks = values["processes"] == launch_mode.PER_WORKER
    try:
        return slurm_launch.place_in(step, values, starts_ranks, command, variables)
    except slurm_launch.Misplaced as error:
        raise (Unwatchable if automatic else UsageError)(str(error)) from None


def _split(arguments: List[str]) -> Tuple[List[str], List[str]]:
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> _Parser:
    parser = _Parser(prog="hedgerow run", usage="hedgerow run [OPTIONS] -- COMMAND", allow_abbrev=False)
    for option in _OPTIONS:
        parser.add_argument(
            option.flag, dest=option.field, metavar="VALUE", help="%s (%s)" % (option.help, option.variables[0])
        )
    return parser


def _value(option: _Option, given: Optional[str], variables: Mapping[str, str]) -> Any:
    where, text = option.flag, given
    for name in option.variables:
        if text is None and variables.get(name):
            where, text = name, variables[name]
    if text is None:
        return None
    try:
        value = option.kind(text)
    except ValueError:
        raise UsageError("%s is %r; write a number" % (where, text)) from None
    if option.choices and value not in option.choices:
        raise UsageError("%s is %r; write one of %s" % (where, text, ", ".join(option.choices)))
    if option.kind in (int, float) and not value >= option.least:
        raise UsageError("%s is %s; write a number of at least %g" % (where, text, option.least))
    return value


def _check(options: Options) -> None:
    if not options.command:
        raise UsageError("there is no command; write it after `--`, as in `hedgerow run -- python train.py`")
    if options.worker >= options.workers:
        raise UsageError(
            "this is worker %d of %d; write --worker (or %s) from 0 to %d"
            % (options.worker, options.workers, environment.WORKER, options.workers - 1)
        )
    _check_pattern(options.log_pattern)
    if options.master_port > 65535:
        raise UsageError("--master-port is %d; write a port from 1 to 65535, or 0" % options.master_port)
    if options.has_operator and not options.job.uid:
        raise UsageError("%s is missing; set it to the uid of the job that is reported" % environment.JOB_UID)
    if not options.has_operator and options.workers > 1:
        raise UsageError(
            "%d workers need an operator that brings them together; give --report-url, or run one worker"
            % options.workers
        )


def _check_pattern(pattern: str) -> None:
    try:
        AutoReader(AUTO, pattern or None)
    except ValueError as error:
        raise UsageError("%s (--log-pattern or %s)" % (error, environment.LOG_PATTERN)) from None

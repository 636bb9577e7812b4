"""What torchrun, accelerate and deepspeed are told on their command lines gives way to what the job says.

Runs at the start of such a launcher's own process, wherever in a script it is called, since its options would come
before the PET_* variables. Options: torch/distributed/run.py; accelerate/commands/launch.py;
deepspeed/launcher/runner.py.
"""

from __future__ import annotations

import os
import sys
from typing import FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from hedgerow import environment
from hedgerow.log import say

NNODES = "PET_NNODES"
NODE_RANK = "PET_NODE_RANK"
NPROC_PER_NODE = "PET_NPROC_PER_NODE"
MASTER_ADDR = "PET_MASTER_ADDR"
MASTER_PORT = "PET_MASTER_PORT"
MAX_RESTARTS = "PET_MAX_RESTARTS"

_HOSTFILE = "hostfile"


class World(NamedTuple):
    """The world that the job gives to a launcher of ranks. folder: where small files may be written."""

    workers: int
    worker: int
    nproc: int
    address: str
    port: int
    folder: str = ""


class Kind(NamedTuple):
    """Options of one launcher, without leading dashes, with ``_``. ours: what the job says; flags: take no value."""

    name: str
    ours: FrozenSet[str]
    flags: FrozenSet[str]


def _names(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


_TORCHRUN = Kind(
    "torchrun",
    _names(
        "nnodes nproc_per_node node_rank max_restarts master_addr master_port local_addr standalone rdzv_backend "
        "rdzv_endpoint rdzv_id rdzv_conf"
    ),
    _names("standalone m module no_python run_path use_env virtual_local_rank h help"),
)
_ACCELERATE = Kind(
    "accelerate launch",
    _names(
        "num_processes num_machines machine_rank main_process_ip main_process_port rdzv_backend rdzv_conf max_restarts "
        "deepspeed_hostfile deepspeed_multinode_launcher deepspeed_inclusion_filter deepspeed_exclusion_filter"
    ),
    _names(
        "cpu multi_gpu tpu ipex use_xpu use_mps_device use_deepspeed use_fsdp use_megatron_lm use_parallelism_config "
        "same_network m module no_python debug quiet q enable_cpu_affinity downcast_bf16 tpu_use_sudo tpu_use_cluster "
        "no_tpu_cluster tpu_cluster dynamo_use_fullgraph dynamo_use_dynamic dynamo_use_regional_compilation "
        "use_cpu h help"
    ),
)
_DEEPSPEED = Kind(
    "deepspeed",
    _names(
        "H hostfile num_nodes num_gpus num_accelerators master_addr master_port node_rank launcher launcher_args "
        "force_multi no_ssh no_ssh_check ssh_port i include e exclude min_elastic_nodes max_elastic_nodes"
    ),
    _names(
        "module no_python no_local_rank no_ssh no_ssh_check force_multi save_pid elastic_training bind_cores_to_rank "
        "h help"
    ),
)
# Program or module -> its options, and how many words after it belong to it.
KINDS = {
    "torchrun": (_TORCHRUN, 0),
    "torch.distributed.run": (_TORCHRUN, 0),
    "torch.distributed.launch": (_TORCHRUN, 0),
    "accelerate": (_ACCELERATE, 1),
    "accelerate.commands.accelerate_cli": (_ACCELERATE, 1),
    "accelerate-launch": (_ACCELERATE, 0),
    "accelerate.commands.launch": (_ACCELERATE, 0),
    "deepspeed": (_DEEPSPEED, 0),
    "deepspeed.launcher.runner": (_DEEPSPEED, 0),
}


def apply() -> None:
    """Change the arguments of this process, if it is such a launcher; a line says what gave way."""
    world = world_of(os.environ)
    name = _program()
    if world is None or name not in KINDS:
        return
    kind, own = KINDS[name]
    if own and sys.argv[1 : 1 + own] != ["launch"]:
        return
    given = sys.argv[1 + own :]
    kept, gone = without_ours(kind, given)
    if kind is _DEEPSPEED and world.workers > 1:
        _write_hostfile(world)
    sys.argv[1 + own :] = ours(kind, world) + kept
    if gone:
        say(
            "%s: %s give way to what the job says: %d workers of %d ranks, restarted by Hedgerow alone"
            % (kind.name, " ".join(gone), world.workers, world.nproc)
        )


def world_of(variables: Mapping[str, str]) -> Optional[World]:
    """The world that the launcher of this worker has written down, None without one."""
    try:
        return World(
            int(variables[NNODES]),
            int(variables[NODE_RANK]),
            int(variables[NPROC_PER_NODE]),
            variables[MASTER_ADDR],
            int(variables[MASTER_PORT]),
            variables[environment.RANKS],
        )
    except (KeyError, ValueError):
        return None


def without_ours(kind: Kind, arguments: Sequence[str]) -> Tuple[List[str], List[str]]:
    """The arguments without the options that the job decides, and those options. What follows the script is its own."""
    kept: List[str] = []
    gone: List[str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if not word.startswith("-") or word in ("-", "--"):
            break
        option, has_value = _option(word)
        length = 1 if has_value or option in kind.flags else 2
        (gone if option in kind.ours else kept).extend(arguments[at : at + length])
        at += length
    return kept + list(arguments[at:]), gone


def ours(kind: Kind, world: World) -> List[str]:
    """The options that the job gives; torchrun takes them from the PET_* variables."""
    if kind is _ACCELERATE:
        options = {
            "num_processes": world.workers * world.nproc,
            "num_machines": world.workers,
            "machine_rank": world.worker,
            "main_process_ip": world.address,
            "main_process_port": world.port,
            "max_restarts": 0,
            "rdzv_backend": "static",
        }
        if world.workers > 1:
            # Otherwise it would start the ranks of all machines by ssh.
            options["deepspeed_multinode_launcher"] = "standard"
    elif kind is _DEEPSPEED:
        options = {"num_gpus": world.nproc, "master_port": world.port}
        if world.workers > 1:
            options.update(
                hostfile=_hostfile(world), node_rank=world.worker, master_addr=world.address, num_nodes=world.workers
            )
            return ["--no_ssh"] + _words(options)
    else:
        options = {}
    return _words(options)


def _words(options: Mapping[str, object]) -> List[str]:
    return [word for name, value in options.items() for word in ("--" + name, str(value))]


def _option(word: str) -> Tuple[str, bool]:
    if not word.startswith("--"):
        return word[1], len(word) > 2
    name, equals, _value = word[2:].partition("=")
    return name.replace("-", "_"), bool(equals)


def _program() -> str:
    """The name of the program or module that this process runs."""
    if not getattr(sys, "argv", None):
        return ""
    if sys.argv[0] != "-m":
        return os.path.basename(sys.argv[0])
    # Where the module's name was taken out of the arguments.
    words = list(getattr(sys, "orig_argv", ()))
    if not words:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")]
    after = words.index("-m") + 1 if "-m" in words else len(words)
    return words[after] if after < len(words) else ""


def _hostfile(world: World) -> str:
    return os.path.join(world.folder, _HOSTFILE)


def _write_hostfile(world: World) -> None:
    lines = ["worker-%d slots=%d\n" % (worker, world.nproc) for worker in range(world.workers)]
    with open(_hostfile(world), "w") as file:
        file.writelines(lines)

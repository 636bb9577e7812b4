"""Runs at the start of every Python process of a rank: stacks on a signal, and the watch for torch's modules. Where
torchrun or another such launcher starts the ranks, in its process too: there it sees to the launcher's arguments.

It imports nothing of ours, so that the many short Python processes of a training script stay short. Then it gives
way to the user's own ``sitecustomize``.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing would make every Python process of the user slower
if TYPE_CHECKING:
    from typing import Any

_HOOKED = {"torch.optim.optimizer", "torch.nn.parallel.distributed", "torch.distributed.distributed_c10d"}
# Where the ranks were started by such a launcher: the folder with their files.
_RANKS = os.environ.get("HEDGEROW_RANKS", "")
_OWN = ""
if _RANKS and os.environ.get("RANK", "").isdigit():
    _OWN = os.path.join(_RANKS, "rank-" + os.environ["RANK"])
_LAUNCHERS = ("torchrun", "accelerate", "accelerate-launch", "deepspeed", "-m")


def _separate_output() -> None:
    """Give the rank pipes of its own, where it writes to those that its launcher shares with all its ranks."""
    shared = [os.stat(os.path.join(_RANKS, name)) for name in ("stdout", "stderr")]
    for descriptor in (1, 2):
        mine = os.fstat(descriptor)
        for name, status in zip(("stdout", "stderr"), shared):
            if os.path.samestat(mine, status):
                pipe = os.open(os.path.join(_OWN, name), os.O_WRONLY)
                os.dup2(pipe, descriptor)
                os.close(pipe)


def _announce() -> None:
    """Say which rank this process is, so that its end is seen even if it comes at once."""
    pipe = os.open(os.path.join(_RANKS, "announcements"), os.O_WRONLY | os.O_NONBLOCK)
    os.write(pipe, ("%s %d\n" % (os.environ["RANK"], os.getpid())).encode())
    os.close(pipe)


def _give_arguments() -> None:
    if os.path.basename((getattr(sys, "argv", None) or [""])[0]) in _LAUNCHERS:
        from hedgerow import launch_arguments

        launch_arguments.apply()


def _register_stacks() -> None:
    path = os.path.join(_OWN, "stacks") if _OWN else os.environ.get("HEDGEROW_STACKS")
    number = os.environ.get("HEDGEROW_STACKS_SIGNAL", "")
    if not path or not number.isdigit():
        return
    import faulthandler

    # Somebody may have put a pipe there, which nobody reads: opening must never wait.
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    faulthandler.register(int(number), file=os.open(path, flags), all_threads=True, chain=False)


class _TorchWatch:
    """A finder that finds nothing itself: it lets the others find torch's modules, and hooks them once loaded."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _HOOKED:
            return None
        _HOOKED.discard(name)
        if not _HOOKED:
            sys.meta_path.remove(cls)
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _HookingLoader(spec.loader)
                return spec
        return None


class _HookingLoader:
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            from hedgerow import torch_hook

            torch_hook.install(module)
        except Exception:  # noqa: BLE001 (our trouble must never be the training script's)
            pass


def _give_way() -> None:
    """Import the ``sitecustomize`` that would have run without us; its errors are the user's to see."""
    here = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


def _shielded(action: Any) -> None:
    try:
        action()
    except Exception:  # noqa: BLE001 (the training script must start all the same)
        pass


_shielded(_register_stacks)
if _OWN:
    _shielded(_announce)
    _shielded(_separate_output)
elif _RANKS:
    _shielded(_give_arguments)
if _OWN or os.environ.get("HEDGEROW_HEARTBEAT"):
    sys.meta_path.insert(0, _TorchWatch)
_give_way()

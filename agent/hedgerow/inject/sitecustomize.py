"""Runs at the start of every Python process of a rank: stacks on a signal, and the watch for torch's modules.

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


def _register_stacks() -> None:
    path = os.environ.get("HEDGEROW_STACKS")
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


try:
    _register_stacks()
except Exception:  # noqa: BLE001 (no stacks then; the training script must start all the same)
    pass
if os.environ.get("HEDGEROW_HEARTBEAT"):
    sys.meta_path.insert(0, _TorchWatch)
_give_way()

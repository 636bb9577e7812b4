"""Collectives, as torch exports them."""

from torch.distributed.distributed_c10d import all_reduce, get_backend  # noqa: F401

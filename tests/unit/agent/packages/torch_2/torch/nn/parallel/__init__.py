"""Imitates torch.nn.parallel."""

from torch.nn.parallel.distributed import DistributedDataParallel  # noqa: F401

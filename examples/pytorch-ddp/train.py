"""Data-parallel training with PyTorch on CPUs; nothing here knows of Hedgerow but one plain environment variable.

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the launcher, as they would from torchrun.
HEDGEROW_RESUME_FROM, when set, is the checkpoint to start from. Works with torch 1.13 and 2.x.
"""

import os
import time
from pathlib import Path

import faults
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ.get("STEPS", "60"))
CHECKPOINT_EVERY = 10
CHECKPOINTS = Path(os.environ.get("CHECKPOINT_DIRECTORY", "checkpoints"))
# How long reading a batch takes; real data loaders are the slow part too.
BATCH_SECONDS = float(os.environ.get("BATCH_SECONDS", "0.1"))
FEATURES, CLASSES, BATCH_SIZE = 32, 4, 64


def batch(rank, step):
    """The inputs and labels of one rank at one step: the same ones whenever the step is run again."""
    time.sleep(BATCH_SECONDS)
    generator = torch.Generator().manual_seed(step * 1000 + rank)
    inputs = torch.randn(BATCH_SIZE, FEATURES, generator=generator)
    truth = torch.randn(FEATURES, CLASSES, generator=torch.Generator().manual_seed(0))
    return inputs, (inputs @ truth).argmax(dim=1)


def save(model, optimizer, step):
    """Write a checkpoint beside its final name and rename it, so that nobody ever reads half of one."""
    CHECKPOINTS.mkdir(parents=True, exist_ok=True)
    path = CHECKPOINTS / f"checkpoint-{step:06d}.pt"
    unfinished = path.with_suffix(".tmp")
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, unfinished)
    faults.tear(unfinished, step)
    unfinished.replace(path)


def resume(model, optimizer):
    """Load the checkpoint to start from, if there is one, and return the step that it was written after."""
    path = os.environ.get("HEDGEROW_RESUME_FROM")
    if not path:
        return 0
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["step"]


def train(rank):
    """Run the steps that are left."""
    model = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    done = resume(model, optimizer)
    parallel = DistributedDataParallel(model)
    for step in range(done + 1, STEPS + 1):
        inputs, labels = batch(rank, step)
        loss = nn.functional.cross_entropy(parallel(inputs), labels)
        faults.hang(rank, step)
        optimizer.zero_grad()
        loss.backward()  # the ranks' gradients are averaged here, so each rank waits for all others
        optimizer.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step % CHECKPOINT_EVERY == 0:
                save(model, optimizer, step)


def main():
    """Join the other ranks, train, leave."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    train(dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""Data-parallel training that really hangs once. Started once for each rank; needs nothing but Python.

Each step: fetch a batch, say so (hedgerow.beat), compute, all-reduce, update. Rank 0 saves every ten steps.
"""

import os

import checkpoint
import faults
import model
from gang import Gang
from loader import Loader

import hedgerow

STEPS = int(os.environ.get("STEPS", "60"))
READ_SECONDS = float(os.environ.get("READ_SECONDS", "0.1"))
CHECKPOINT_DIRECTORY = os.environ.get("CHECKPOINT_DIRECTORY", "checkpoints")
SAVE_EVERY = 10
BATCH_SIZE = 48
LEARNING_RATE = 1.0


def main():
    attempt = int(os.environ.get("HEDGEROW_ATTEMPT", "1"))
    start, parameters = 0, model.initial_parameters()
    resume_from = os.environ.get("HEDGEROW_RESUME_FROM")
    if resume_from:
        start, parameters = checkpoint.load(resume_from)
    gang = Gang()
    loader = Loader(gang.rank, BATCH_SIZE, READ_SECONDS, lambda step: faults.hangs(gang.rank, attempt, step))
    if gang.rank == 0:
        print(f"attempt {attempt}: {gang.size} ranks, from step {start}")
    for step in range(start + 1, STEPS + 1):
        batch = loader.next_batch(step)
        hedgerow.beat(step=step)
        sums = gang.all_reduce(model.loss_and_gradient(parameters, batch))
        parameters = model.descend(parameters, sums, LEARNING_RATE / gang.size)
        if gang.rank == 0 and step % SAVE_EVERY == 0:
            checkpoint.save(CHECKPOINT_DIRECTORY, step, parameters, torn=faults.tears(attempt, step))
            print(f"step {step}: loss {sums[-1] / gang.size:.3f}")


if __name__ == "__main__":
    main()

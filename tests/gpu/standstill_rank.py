"""One rank: multiplies, reduces over all ranks, and so on; the one that is named stops joining in, and lives on."""

import os
import sys
import time

import torch
import torch.distributed as dist

hangs, work_seconds = int(sys.argv[1]), float(sys.argv[2])
rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
left = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
gradient = torch.ones(1 << 28, device="cuda", dtype=torch.bfloat16)
dist.all_reduce(gradient)
torch.cuda.synchronize()
print("works", flush=True)
until = time.monotonic() + work_seconds
while True:
    if rank == hangs and time.monotonic() > until:
        print("hangs", flush=True)
        time.sleep(3600)
    for _ in range(20):
        left = torch.nn.functional.normalize(left @ left)
    dist.all_reduce(gradient)
    torch.cuda.synchronize()

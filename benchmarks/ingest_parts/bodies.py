"""Reports as our launchers and agents send them: 8 ranks, 8 GPUs, and room for a number that grows."""

from __future__ import annotations

from hedgerow import wire, wire_agent
from hedgerow.wire import RANK_RUNNING, STAGE_RUNNING, Activity, CommunicationReport, JobRef, RankReport, Report

RANKS = GPUS = 8
WORKERS = 128  # of one job: 12 500 nodes are some hundred jobs of a thousand ranks
# Stands for the number of the report, and for all that grows with it; numbers begin here, so that all are as long.
FIRST = 1_000_000_000
_MARK = b"1000000000"
_REACHED = 2_000_000_000  # where those stand that do not move any more
# As long as a projected service-account token.
TOKEN_FILL = "x" * 900
STACK = "\n".join(f'  File "/opt/train/module_{n}.py", line {n}, in forward_{n}' for n in range(12))


def uid_of(job: int) -> str:
    """Of the job with this number."""
    return f"job-{job:05d}"


def launcher_token(node: int) -> str:
    """Of the launcher on this node."""
    return f"launcher.{node // WORKERS}.{node % WORKERS}.{TOKEN_FILL}"


def agent_token(node: int) -> str:
    """Of the agent on this node."""
    return f"agent.{node}.0.{TOKEN_FILL}"


def launcher_body(node: int, workers: int, still: bool = False) -> list[bytes]:
    """The parts of a launcher's report, to be joined by the number. still: its ranks have not moved for long."""
    job, worker = divmod(node, WORKERS)
    age = 900.0 if still else 0.2
    idle = age if still else 0.0
    activity = Activity("S", "futex_wait_queue", 1000.0, 0.0 if still else 0.97, idle, idle, idle or None)
    first, reached = worker * RANKS, _REACHED if still else FIRST
    ranks = [
        RankReport(
            rank=rank, local_rank=rank - first, state=RANK_RUNNING, pid=4000 + rank, beats=reached,
            # In a storm rank 3 of each job never came to the last step.
            step=reached - (still and rank == 3), phase="step", progress_age=age, source="Library", step_seconds=0.5,
            activity=activity,
            values={"loss": 2.0625, "grad_norm": 1.25, "learning_rate": 0.0003}, memory_bytes=10**10 + rank,
            communication=CommunicationReport(0.1, 0.2, "DDP", 1.0), stack=STACK if still else None,
        )
        for rank in range(first, first + RANKS)
    ]
    name = f"train-{job}"
    report = Report(
        job=JobRef(uid_of(job), "ml", name), placement=1, worker=worker, workers=workers, ranks_per_worker=RANKS,
        boot="3f0c2a5e-6d51-4f0e-9d0e-7a1c0f2b9e11", launcher=f"launcher-{node}", seq=FIRST, sent_monotonic=1e5,
        sent_wall=1.8e9, stage=STAGE_RUNNING, attempt=1, host=f"node{node}", node=f"node{node}", address="10.0.0.1",
        free_port=29000, master_port=29001, peer_address="10.0.0.1:31000", nonce="n" * 32, ranks=ranks,
        durations={"init": {60: RANKS}, "first-step": {50: RANKS}, "step": {35: FIRST, 36: 40}},
        memory_limit_bytes=10**12, dump_age=1.0 if still else None,
    )
    return wire.encode(report).split(_MARK)


def agent_body(node: int, still: bool = False) -> list[bytes]:
    """The parts of an agent's report, to be joined by the number; every value that a GPU of today gives."""
    power = 90.0 if still else 640.5
    values = {name: float(high if high <= 1.0 else min(high, 50.0 + n)) for n, (name, (_low, high)) in
              enumerate(wire_agent.GPU_VALUES.items()) if not name.startswith("mig")}
    gpus = [
        wire_agent.GpuReport(
            index=gpu, uuid=f"GPU-{node:06d}-{gpu:04d}-6d51-4f0e-9d0e7a1c0f2b", pci=f"0000:{gpu:02x}:00.0",
            name="NVIDIA H100 80GB HBM3", serial="1654322000000", values={**values, "power_watts": power},
            throttle_reasons=[], processes=[wire_agent.GpuProcess(pid=4000 + gpu, memory_bytes=70 * 2**30, rank=gpu)],
        )
        for gpu in range(GPUS)
    ]
    links = [wire_agent.LinkReport(f"mlx5_{n}", "InfiniBand", True, 1e9, 10**12, 10**12, 0, 0) for n in range(GPUS)]
    around = wire_agent.HostReport(values={"memory_total_bytes": 2.0**41, "memory_available_bytes": 2.0**40},
                                   links=links)
    report = wire_agent.AgentReport(
        node=f"node{node}", boot="3f0c2a5e-6d51-4f0e-9d0e-7a1c0f2b9e11", agent=f"agent-{node}", seq=FIRST,
        sent_monotonic=1e5, sent_wall=1.8e9, host=f"node{node}", health="Degraded" if still else "Healthy", gpus=gpus,
        around=around, kernel_log="/dev/kmsg",
    )
    return wire_agent.encode_report(report).split(_MARK)


def request(path: str, token: str, parts: list[bytes], number: int, close: bool = False) -> bytes:
    """The whole HTTP request, in the form that ``http.client`` gives it."""
    body = str(number).encode().join(parts)
    connection = "Connection: close\r\n" if close else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\nContent-Length: {len(body)}\r\n"
        f"{connection}Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    return head.encode() + body

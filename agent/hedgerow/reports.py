"""Builds the report: everything that this launcher knows, complete in itself."""

from __future__ import annotations

import dataclasses
import os
import socket
import time
from typing import Any, Dict, List, Optional

from hedgerow import machine, memory, wire
from hedgerow.attempt import Attempt
from hedgerow.options import Options


def constant_part(options: Options, launcher: str, address: str, peer_address: str) -> Dict[str, Any]:
    """The fields of every report of this process."""
    return {
        "job": options.job,
        "placement": options.placement,
        "worker": options.worker,
        "workers": options.workers,
        "ranks_per_worker": options.nproc,
        "boot": machine.boot_id(),
        "launcher": launcher,
        "host": socket.gethostname(),
        "node": options.node or os.uname().nodename,
        "address": address,
        "peer_address": peer_address,
        "step": options.step.name if options.step is not None else "",
        "once": options.starts_once,
    }


def build(
    constant: Dict[str, Any],
    seq: int,
    attempt: Optional[Attempt],
    scan: Optional[wire.CheckpointScan],
    free_port: int,
    nonce: str,
    set_aside: List[str],
) -> wire.Report:
    """The report of this moment."""
    now = machine.boottime()
    report = wire.Report(
        seq=seq,
        sent_monotonic=now,
        sent_wall=time.time(),
        stage=wire.STAGE_WAITING,
        free_port=free_port,
        nonce=nonce,
        checkpoints=scan,
        memory_limit_bytes=memory.limit_bytes(),
        **constant,
    )
    if attempt is None:
        return report
    return dataclasses.replace(
        report,
        stage=attempt.stage,
        attempt=attempt.number,
        stop_cause=attempt.stop_cause,
        master_port=attempt.start.master_port,
        ranks=attempt.reports(now),
        durations=attempt.histograms(),
        unread_output_bytes=attempt.unread_output_bytes(),
        dump_age=attempt.dump_age(now),
        set_aside=set_aside,
    )

"""Slurm's configuration files for the testbed."""

import socket
from collections.abc import Mapping, Sequence

from tests.slurm.testbed.places import GPUS, Places

NODES = ("n1", "n2", "n3", "n4")
SETTINGS = {
    "ClusterName": "testbed",
    "SlurmUser": "slurm",
    "SlurmdUser": "root",
    "AuthType": "auth/munge",
    "AuthAltTypes": "auth/jwt",
    "SlurmctldDebug": "info",
    "SlurmdDebug": "info",
    # Control groups would have to be made on every machine; so what leaves its session outlives its job.
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "MpiDefault": "none",
    "ReturnToService": "2",
    "SlurmctldTimeout": "30",
    "SlurmdTimeout": "10",
    "KillWait": "3",
    "MinJobAge": "300",
    # A step that ends while slurmctld is away tells it 60 s later; by then a shorter time has drained the node.
    "UnkillableStepTimeout": "180",
    "SchedulerType": "sched/backfill",
    # Without these a job waits 3 s before it is looked at, and one whose nodes become free up to a minute.
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=100000",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core",
    # The nodes claim more processors than the machine has.
    "SlurmdParameters": "config_overrides",
    "AccountingStorageType": "accounting_storage/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "JobCompType": "jobcomp/none",
    "GresTypes": "gpu",
}
# A requeued job is held back for as long as a credential is good, 120 s by default.
CREDENTIAL_SECONDS = 5
NODE = "CPUs=8 RealMemory=8000 State=UNKNOWN"


def write(places: Places, controller: int, nodes: Sequence[int], changes: Mapping[str, str]) -> None:
    """Write slurm.conf and gres.conf. controller, nodes: their ports; changes: settings that differ from SETTINGS."""
    host = socket.gethostname().split(".")[0]
    settings = {
        **SETTINGS,
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "AuthInfo": f"socket={places.munge_socket},cred_expire={CREDENTIAL_SECONDS}",
        "AuthAltParameters": f"jwt_key={places.jwt_key}",
        "SlurmctldPort": str(controller),
        "StateSaveLocation": str(places.state),
        "SlurmdSpoolDir": f"{places.spool}/%n",
        "SlurmctldPidFile": f"{places.log}/slurmctld.pid",
        "SlurmdPidFile": f"{places.spool}/%n.pid",
        **changes,
    }
    lines = [f"{name}={value}" for name, value in settings.items()]
    lines += [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} Gres=gpu:{GPUS} {NODE}"
        for name, port in zip(NODES, nodes, strict=True)
    ]
    lines.append("PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    places.slurm_conf.write_text("\n".join(lines) + "\n")
    gpus = f"NodeName={','.join(NODES)} Name=gpu File={places.dev}/gpu[0-{GPUS - 1}]"
    (places.etc / "gres.conf").write_text(f"AutoDetect=off\n{gpus}\n")

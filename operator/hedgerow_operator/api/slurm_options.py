"""What sbatch can be told: its long options, and those that other fields of a TrainingJob say."""

from __future__ import annotations

# The long options of sbatch, of every release from 22.05 to 25.11 (its manual pages); those of plugins are not among
# them: slurmrestd and pyslurm could not pass them on.
KNOWN = (
    "account", "acctg-freq", "array", "batch", "bb", "bbf", "begin", "chdir", "cluster-constraint", "clusters",
    "comment", "constraint", "container", "container-id", "contiguous", "core-spec", "cores-per-socket",
    "cpu-freq", "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot", "dependency", "distribution",
    "error", "exclude", "exclusive", "export", "export-file", "extra", "extra-node-info", "get-user-env", "gid",
    "gpu-bind", "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags",
    "help", "hint", "hold", "ignore-pbs", "input", "job-name", "kill-on-invalid-dep", "licenses", "mail-type",
    "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus", "network", "nice",
    "no-kill", "no-requeue", "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu",
    "ntasks-per-node", "ntasks-per-socket", "oom-kill-step", "open-mode", "output", "overcommit",
    "oversubscribe", "parsable", "partition", "power", "prefer", "priority", "profile", "propagate", "qos",
    "quiet", "reboot", "requeue", "reservation", "resv-ports", "segment", "signal", "sockets-per-node",
    "spread-job", "stepmgr", "switches", "test-only", "thread-spec", "threads-per-core", "time", "time-min",
    "tmp", "tres-bind", "tres-per-task", "uid", "usage", "use-min-nodes", "verbose", "version", "wait",
    "wait-all-nodes", "wckey", "wrap",
)  # fmt: skip

# Options that a field says, or that Hedgerow itself decides: (what to write instead, their names).
OWNED = (
    ("write workers: each is a node", ("nodes", "nodefile", "use-min-nodes")),
    (
        "write ranksPerWorker, and workers: their product is the number of tasks",
        ("ntasks", "ntasks-per-node", "ntasks-per-gpu"),
    ),
    (
        "write slurm.gres, such as gpu:8: it counts for each node",
        ("gres", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "tres-per-task"),
    ),
    ("write slurm.partition", ("partition",)),
    ("write slurm.account", ("account",)),
    ("write slurm.qos", ("qos",)),
    ("write slurm.timeLimit", ("time", "time-min")),
    ("write slurm.clusterRef, which names the SlurmCluster", ("clusters", "cluster-constraint")),
    ("write slurm.resubmit: NewJob or Requeue", ("requeue", "no-requeue")),
    ("write recovery.graceSeconds: ranks get SIGTERM that long before their end", ("signal",)),
    ("write metadata.name: it is the batch job's name too", ("job-name",)),
    ("write slurm.script", ("wrap",)),
    ("write `export NAME=value` into slurm.script", ("export", "export-file", "get-user-env")),
    ("leave it out: Hedgerow finds its batch jobs by their comment", ("comment",)),
    ("leave it out: Hedgerow excludes nodes as recovery.exclude says; keep others off with constraint", ("exclude",)),
    ("leave it out, and write one TrainingJob for each task of an array", ("array",)),
    (
        "leave it out: a batch job may be followed by others, so that no id can be depended on",
        ("dependency", "kill-on-invalid-dep"),
    ),
    ("leave it out: a batch job has to end with any of its nodes", ("no-kill",)),
    ("leave it out: the launchers read no input", ("input",)),
    ("leave it out: the user of the SlurmCluster submits", ("uid", "gid")),
    (
        "leave it out: it changes only what sbatch prints or waits for",
        ("help", "usage", "version", "parsable", "quiet", "verbose", "test-only", "wait", "ignore-pbs"),
    ),
)

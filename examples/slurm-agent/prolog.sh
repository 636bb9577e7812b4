#!/bin/sh
# A Prolog of Slurm (slurm.conf: Prolog=/etc/slurm/prolog.d/hedgerow.sh) that sees to it that the node agent runs: as its
# unit where there is one, else as a process of its own that outlives the prolog. It waits for nothing, and always ends
# with 0: a prolog that fails drains its node.
settings=${HEDGEROW_AGENT_SETTINGS:-/etc/default/hedgerow-agent}
run=${HEDGEROW_AGENT_RUN:-/run}
# Slurm gives a prolog no PATH.
PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}:/opt/hedgerow/venv/bin

if systemctl --quiet cat hedgerow-agent.service >/dev/null 2>&1; then
    systemctl --no-block start hedgerow-agent.service
elif [ -r "$settings" ]; then
    # In a session of its own before this ends: Slurm kills what a prolog leaves in its group. The lock is held for as long
    # as the agent lives, so that there is one a node, however many jobs begin.
    export settings lock="$run/hedgerow-agent-$SLURMD_NODENAME.lock"
    setsid sh -c '(
        set -a
        . "$settings"
        exec flock --nonblock "$lock" hedgerow-agent
    ) &' </dev/null >>"$run/hedgerow-agent-$SLURMD_NODENAME.log" 2>&1
fi
exit 0

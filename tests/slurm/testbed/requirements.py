"""What the Slurm testbed needs of the machine, and a sentence about what is missing."""

import os
import pwd
import shutil
import subprocess
import sys

APT_PACKAGES = ("munge", "slurm-client", "slurm-wlm-jwt-plugin", "slurmctld", "slurmd", "slurmrestd", "util-linux")
# Daemons lie in /usr/sbin, which is not on every PATH. `python3` is ours, with no shell script in between.
PATH = f"{sys.base_prefix}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/sbin:/sbin"
PROGRAMS = {
    "munged": "munge",
    "sbatch": "slurm-client",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "slurmrestd": "slurmrestd",
    "unshare": "util-linux",
}
# slurmrestd refuses root and Slurm's own user; this one is on every Debian.
REST_USER = "daemon"
USERS = {"slurm": "slurmctld", "munge": "munge", REST_USER: "base-passwd"}
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def missing() -> str | None:
    """One sentence about what the testbed needs and this machine lacks; None when all is there."""
    if os.geteuid() != 0:
        return "The Slurm testbed needs root (slurmd and munged run as different users): run this as root."
    known = {user.pw_name for user in pwd.getpwall()}
    packages = {package for program, package in PROGRAMS.items() if not shutil.which(program, path=PATH)}
    packages |= {package for user, package in USERS.items() if user not in known}
    if packages:
        names = " ".join(sorted(packages))
        return f"The Slurm testbed needs Debian packages that are not installed: apt-get install {names}."
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        return (
            "The Slurm testbed needs a process namespace, and this machine refuses `unshare --pid --mount-proc`: "
            "run it outside a container, or in one with CAP_SYS_ADMIN."
        )
    return None

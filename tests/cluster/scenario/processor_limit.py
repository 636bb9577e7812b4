"""Less time of a processor for one process of a pod, by the means with which a kubelet limits a container's."""

from pathlib import Path

from tests.cluster.testbed import cgroups

PERIOD_MICROS = 100_000


def limit(pid: int, percent: int) -> None:
    """From now on the process gets so many percent of one processor: in a group of its own, beside its container's."""
    for tree in cgroups.trees():
        if tree.kind == "cgroup2":
            files = {"cpu.max": f"{percent * PERIOD_MICROS // 100} {PERIOD_MICROS}"}
        elif "cpu" in tree.options.split(","):
            quota = percent * PERIOD_MICROS // 100
            files = {"cpu.cfs_period_us": str(PERIOD_MICROS), "cpu.cfs_quota_us": str(quota)}
        else:
            continue
        group = tree.group(of_process(pid, tree)).parent / f"limited-{pid}"
        group.mkdir()
        if all((group / name).exists() for name in files):
            for name, value in files.items():
                (group / name).write_text(value)
            (group / "cgroup.procs").write_text(str(pid))
            return
        group.rmdir()  # this tree does not have the processor's controller
    raise AssertionError("no control group here can limit the time of a processor")


def of_process(pid: int, tree: cgroups.Tree) -> str:
    """The group of the process in this tree."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _number, controllers, name = line.split(":", 2)
        if controllers == ("" if tree.kind == "cgroup2" else tree.options):
            return name
    raise AssertionError(f"process {pid} is in no group of {tree.point}")

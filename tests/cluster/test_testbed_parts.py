"""The parts of the testbed that decide something, without a cluster."""

from pathlib import Path

import pytest

from tests.cluster.testbed import build, network, stores, toolchain
from tests.cluster.testbed.cgroups import Tree, parse_mounts
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.testbed.paths import GO_MODULES
from tests.cluster.testbed.prepared import VARIABLE, Prepared
from tests.cluster.testbed.waiting import wait_for

VERSION_LINES = {
    "a released Go says its version": ("go version go1.26.2 linux/amd64", (1, 26)),
    "Debian's Go is older": ("go version go1.19.8 linux/amd64", (1, 19)),
    "no Go at all says nothing": ("", (0, 0)),
}


@pytest.mark.parametrize("case", VERSION_LINES)
def test_the_version_of_go_is_read(case: str) -> None:
    line, version = VERSION_LINES[case]
    assert toolchain.parse_version(line) == version


MOUNTS = {
    "v2 is one tree": (
        "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0",
        [Tree(Path("/sys/fs/cgroup"), "cgroup2", "")],
    ),
    "v1 is a tree a controller, and controllers may share one": (
        "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0",
        [Tree(Path("/sys/fs/cgroup/cpu,cpuacct"), "cgroup", "cpu,cpuacct")],
    ),
    "a v1 tree without controllers is mounted by its name": (
        "cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,release_agent=/lib/agent,name=systemd 0 0",
        [Tree(Path("/sys/fs/cgroup/systemd"), "cgroup", "none,name=systemd")],
    ),
    "trees elsewhere are not ours": ("cgroup2 /mnt/groups cgroup2 rw 0 0", []),
}


@pytest.mark.parametrize("case", MOUNTS)
def test_control_group_trees_are_read_from_the_mounts(case: str) -> None:
    text, trees = MOUNTS[case]
    assert parse_mounts(text) == trees


def test_kubernetes_is_stamped_with_its_pinned_version_and_other_programs_are_not() -> None:
    flags = {program.name: build.linker_flags(program, "v1.36.3") for program in build.PROGRAMS}
    assert "version.gitVersion=v1.36.3" in flags["kubelet"]
    assert "version.gitMinor=36" in flags["kubelet"]
    assert flags["containerd"] == "-s -w"


def test_every_program_is_pinned_as_a_tool_of_its_go_module() -> None:
    for program in build.PROGRAMS:
        assert program.package in (GO_MODULES / program.module / "go.mod").read_text()


def test_each_node_has_an_address_and_a_subnet_of_its_own() -> None:
    cables = [network.Cable(index) for index in range(1, 6)]
    assert len({cable.address for cable in cables}) == len({cable.pods for cable in cables}) == len(cables)


def test_a_derived_store_has_copies_of_the_databases_and_links_to_the_rest(tmp_path: Path) -> None:
    parent, child = tmp_path / "parent", tmp_path / "child"
    for name in (f"{stores.METADATA}/meta.db", f"{stores.SNAPSHOTS}/metadata.db", f"{stores.BLOBS}/abc"):
        (parent / name).parent.mkdir(parents=True, exist_ok=True)
        (parent / name).write_text("content")
    layer = f"{stores.SNAPSHOTS}/snapshots/1"
    (parent / layer / "fs").mkdir(parents=True)
    stores.derive(parent, child)
    (child / stores.METADATA / "meta.db").write_text("changed by a node")
    assert (parent / stores.METADATA / "meta.db").read_text() == "content"
    assert (child / layer).resolve() == parent / layer
    assert (child / stores.BLOBS / "abc").resolve() == parent / stores.BLOBS / "abc"


def test_waiting_in_vain_says_for_what_and_what_was_seen() -> None:
    with pytest.raises(ClusterError, match=r"Waited 0 s in vain for the moon; what was seen last: \[\]"):
        wait_for("the moon", list, timeout=0)


def test_outside_its_namespaces_the_cluster_says_how_to_get_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(ClusterError, match="make test T=tests/cluster"):
        Prepared.load()

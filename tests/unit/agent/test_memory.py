"""Memory of a process tree, and the lowest limit of the control groups above it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow import memory

MEBIBYTE = 1 << 20
SHARES = """
import mmap, os, sys
shared = mmap.mmap(-1, 200 << 20)
shared.write(b"x" * (200 << 20))
own = bytearray(b"x") * (50 << 20)
child = os.fork()
if child == 0:
    shared[:1]
    len(shared[:])
print(os.getpid() if child else 0, flush=True)
sys.stdin.read()
"""


def test_shared_memory_counts_once() -> None:
    with subprocess.Popen([sys.executable, "-c", SHARES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        alone = memory.resident_bytes([process.pid])
        both = memory.resident_bytes([process.pid, *map(int, children)])
        process.stdin.close()
    assert len(children) == 1
    assert alone is not None
    assert both is not None
    assert 250 * MEBIBYTE < alone < 290 * MEBIBYTE
    assert both - alone < 120 * MEBIBYTE, "the child's private copy at most, and not 200 MiB more"


def test_what_cannot_be_read_is_not_known() -> None:
    assert memory.resident_bytes([]) is None
    assert memory.resident_bytes([2**22 + 7]) is None


GROUPS: dict[str, tuple[str, dict[str, str], int | None]] = {
    "version 2, in a container": ("0::/\n", {"memory.max": "1000\n"}, 1000),
    "version 2, no limit": ("0::/\n", {"memory.max": "max\n"}, None),
    "version 2, the lowest above": ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "500\n"}, 500),
    "version 2, a path that is not mounted here": ("0::/kubepods/pod7\n", {"memory.max": "2000\n"}, 2000),
    "version 2, a path above the root": ("0::/../../x\n", {"memory.max": "300\n"}, 300),
    "version 1": ("4:cpu:/x\n7:memory:/x\n", {"memory/x/memory.limit_in_bytes": "700\n"}, 700),
    "version 1, no limit": ("7:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
    "both versions": (
        "7:memory:/x\n0::/x\n",
        {"memory/x/memory.limit_in_bytes": "700\n", "x/memory.max": "600\n"},
        600,
    ),
    "nothing to be seen": ("", {}, None),
}


@pytest.mark.parametrize(("membership", "files", "limit"), GROUPS.values(), ids=GROUPS.keys())
def test_the_lowest_limit_counts(tmp_path: Path, membership: str, files: dict[str, str], limit: int | None) -> None:
    (tmp_path / "membership").write_text(membership)
    for name, content in files.items():
        (tmp_path / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cgroup" / name).write_text(content)
    assert memory.limit_bytes(str(tmp_path / "membership"), str(tmp_path / "cgroup")) == limit

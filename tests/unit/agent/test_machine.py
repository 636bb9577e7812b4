"""What a launcher finds out about its machine."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from hedgerow import machine

FIRST_EPHEMERAL = 32768


def listening(family: socket.AddressFamily) -> socket.socket:
    """A server on some port of this family alone."""
    server = socket.socket(family)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
    server.listen(1)
    return server


FAMILIES = [socket.AF_INET, socket.AF_INET6] if socket.has_dualstack_ipv6() else [socket.AF_INET]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_port_that_another_job_has_on_this_node_is_not_used_twice(family: socket.AddressFamily) -> None:
    with listening(family) as server:
        taken = server.getsockname()[1]
        assert machine.free_port(taken) not in (0, taken)


def test_a_wanted_port_that_is_free_is_used() -> None:
    wanted = machine.free_port()
    assert 1024 <= wanted < FIRST_EPHEMERAL
    assert machine.free_port(wanted) == wanted


def test_the_environment_is_the_one_that_was_given_also_where_python_adds_to_its_own() -> None:
    script = "import os; from hedgerow import machine; print('LC_CTYPE' in os.environ, machine.given_environment())"
    given = {"LANG": "C", "PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", script], env=given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"True {given}"

"""Manifests with spec.slurm that hedgerow local is given, and the address that their launchers report to."""

import ipaddress
import socket
from pathlib import Path
from typing import Any

import click
import pytest

from hedgerow_operator.api.manifests import FoundJob
from hedgerow_operator.cli.own_address import own_address, url_host
from hedgerow_operator.cli.slurm_jobs import on_slurm
from tests.unit.core.builders import make_job


def resolved(folder: Path, script: str = "python train.py", **slurm: Any) -> dict[str, str]:
    """The options of sbatch that the job ends with."""
    job = make_job({"local": None, "slurm": {"script": script, **slurm}})
    assert job.spec.slurm is not None
    found = on_slurm(FoundJob(job=job, where="job.yaml:1", folder=folder), job.spec.slurm)
    assert found.spec.slurm is not None
    return dict(found.spec.slurm.options)


def test_a_job_runs_in_the_folder_of_its_manifest(tmp_path: Path) -> None:
    assert resolved(tmp_path) == {"chdir": str(tmp_path)}


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("#!/bin/sh\n#SBATCH --chdir=/data\ntrain", {}),
        ("train", {"chdir": "/data"}),
    ],
)
def test_one_that_names_another_runs_there(tmp_path: Path, script: str, options: dict[str, str]) -> None:
    assert resolved(tmp_path, script, options=options) == options


def test_a_job_for_an_operator_is_refused_with_what_to_leave_out(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match="leave clusterRef out"):
        resolved(tmp_path, clusterRef={"name": "hpc"})


def test_a_broken_line_of_the_script_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match=r"job\.yaml:1: spec\.slurm\.script: line 2"):
        resolved(tmp_path, "#!/bin/sh\n#SBATCH --comment='never closed\ntrain")


def test_the_own_address_is_one_of_this_machine() -> None:
    address = own_address()
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.bind((address, 0))


def test_a_name_that_stands_for_loopback_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(*_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.1.1", "192.0.2.7")]

    monkeypatch.setattr(socket, "getaddrinfo", named)
    assert own_address() == "192.0.2.7"


def test_without_any_network_it_is_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> Any:
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    monkeypatch.setattr(socket, "socket", nothing)
    assert ipaddress.ip_address(own_address()).is_loopback


@pytest.mark.parametrize(
    ("host", "written"),
    [
        ("login1", "login1"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::7", "[2001:db8::7]"),
        ("[2001:db8::7]", "[2001:db8::7]"),
    ],
)
def test_an_address_in_a_url(host: str, written: str) -> None:
    assert url_host(host) == written

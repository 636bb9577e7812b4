"""Which addresses may be called."""

import asyncio
import socket

import aiohttp
import pytest

from hedgerow_operator.adapters.providers.guard import Forbidden, Guard, guarded_session

NEVER = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "::1",
    "::",
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "100.100.100.200",
    "192.0.0.192",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
]
PRIVATE = ["10.0.0.1", "192.168.1.1", "172.16.5.5", "fd12::1", "100.64.0.1", "::ffff:10.0.0.1"]
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111"]


@pytest.mark.parametrize("address", NEVER)
def test_this_machine_its_neighbours_and_metadata_services_are_never_called(address: str) -> None:
    with pytest.raises(Forbidden, match="may not be called"):
        Guard().check(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_networks_are_called_for_operators_and_not_for_clients(address: str) -> None:
    Guard().check(address)
    with pytest.raises(Forbidden, match="private network"):
        Guard(private=False).check(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_the_rest_of_the_world_is_called(address: str) -> None:
    Guard(private=False).check(address)


@pytest.mark.parametrize("host", ["169.254.169.254", "[::1]:80", "2852039166", "0x7f.1", "LOCALHOST.", "a.localhost:1"])
def test_a_url_that_says_an_address_is_looked_at_before_it_is_called(host: str) -> None:
    with pytest.raises(Forbidden, match="may not be called"):
        Guard().check_url(f"http://{host}/v1")
    Guard(["127.0.0.0/8", "::1/128", "169.254.0.0/16"]).check_url(f"http://{host}/v1")


@pytest.mark.parametrize("host", ["gpu.example", "8.8.8.8:443", "10.0.0.1", "[2606:4700::1111]", "localhost.example"])
def test_other_urls_are_looked_at_when_they_are_called(host: str) -> None:
    Guard().check_url(f"https://{host}/v1")


def test_a_network_that_is_allowed_is_called_whatever_it_is_and_no_other() -> None:
    guard = Guard(["127.0.0.0/8", "fd00:ec2::254/128"], private=False)
    guard.check("127.0.0.1")
    guard.check("::ffff:127.0.0.1")
    guard.check("fd00:ec2::254")
    with pytest.raises(Forbidden):
        guard.check("169.254.169.254")


async def test_a_name_is_judged_by_the_address_that_the_connection_goes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()

    async def resolved(host: str, port: int, **_more: object) -> list[tuple[object, ...]]:
        assert host == "innocent.example"
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("169.254.169.254", port))]

    monkeypatch.setattr(loop, "getaddrinfo", resolved)
    async with guarded_session(Guard()) as session:
        with pytest.raises(aiohttp.ClientConnectorError, match="link-local"):
            await session.get("http://innocent.example/")

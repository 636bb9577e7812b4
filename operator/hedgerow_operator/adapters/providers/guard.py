"""Keeps declared addresses away from this machine, its neighbours on the link, and the cloud's metadata services.

Checked when a connection is made, on the very address that it goes to: a name that resolves to something else a moment
later, a redirect, or an address written in an odd way change nothing.
"""

import errno
import ipaddress
import socket
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import aiohttp

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Metadata services that are not on a link-local address: Amazon's by IPv6, Alibaba's, Oracle's.
_METADATA = frozenset(ipaddress.ip_address(text) for text in ("fd00:ec2::254", "100.100.100.200", "192.0.0.192"))
# Names that mean the same address everywhere.
_KNOWN_NAMES = {"localhost": "127.0.0.1", "metadata.google.internal": "169.254.169.254"}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_CONNECT_SECONDS = 5.0


class Forbidden(OSError):
    """The address may not be called."""


class Guard:
    """allowed_networks: CIDRs that may be called whatever they are. private: whether 10.0.0.0/8 and its like may be."""

    def __init__(self, allowed_networks: Iterable[str] = (), *, private: bool = True) -> None:
        self._allowed = tuple(ipaddress.ip_network(text, strict=False) for text in allowed_networks)
        self._private = private

    def check(self, text: str) -> None:
        """Raises Forbidden when this IP address may not be called."""
        address = _meant(ipaddress.ip_address(text.split("%")[0]))
        if any(address in network for network in self._allowed):
            return
        kind = _kind(address, self._private)
        if kind:
            sentence = f"{address} is {kind}, which may not be called; allow its network if it is meant"
            raise Forbidden(errno.EACCES, sentence)

    def check_url(self, url: str) -> None:
        """Raises Forbidden when this URL says which address it is, and that may not be called. Other names are looked
        at when they are called.
        """
        host = (urlsplit(url).hostname or "").rstrip(".")
        known = "127.0.0.1" if host.endswith(".localhost") else _KNOWN_NAMES.get(host)
        try:
            text = known or str(ipaddress.ip_address(host))
        except ValueError:
            text = _numeric(host)
        if text:
            self.check(text)

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The socket of a connection that is about to be made. Raises Forbidden."""
        family, kind, protocol, _name, where = info
        self.check(str(where[0]))
        return socket.socket(family=family, type=kind, proto=protocol)


def _numeric(host: str) -> str:
    """The address in one of the odd ways in which IPv4 can be written, such as 2852039166 or 0x7f.1; "" for a name."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return ""


def _meant(address: Address) -> Address:
    """The IPv4 address within an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _kind(address: Address, private: bool) -> str:
    if address in _METADATA:
        return "a metadata service"
    if address.is_link_local:
        return "link-local, as metadata services are"
    if address.is_loopback or address.is_unspecified:
        return "this machine"
    if address.is_multicast or (address.is_reserved and not address.is_global):
        return "no address of a server"
    if not private and not address.is_global:
        return "in a private network"
    return ""


def guarded_session(guard: Guard, **options: Any) -> aiohttp.ClientSession:
    """A session all of whose connections are checked. It knows no proxy: that would be asked instead of the address."""
    connector = aiohttp.TCPConnector(limit=0, socket_factory=guard.socket, keepalive_timeout=options.pop("keep", 15.0))
    options.setdefault("timeout", aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS))
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False, **options)

"""The address at which other machines of a cluster reach this one."""

import ipaddress
import socket

# Reserved for documents (RFC 5737, RFC 3849): nothing is ever sent there, a route to it is only looked up.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
_LOOPBACK = "127.0.0.1"


def own_address() -> str:
    """What this machine's name stands for where that is no loopback, else the address that it would send from."""
    found = [*_named(), *_routed()]
    return next((address for address in found if not ipaddress.ip_address(address).is_loopback), _LOOPBACK)


def url_host(host: str) -> str:
    """A name or an address as it stands in a URL."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _named() -> list[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    # Of IPv6 a link-local address means nothing elsewhere.
    return [str(entry[4][0]) for entry in found if "%" not in str(entry[4][0])]


def _routed() -> list[str]:
    addresses = []
    for family, elsewhere in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                addresses.append(str(probe.getsockname()[0]))
        except OSError:
            continue
    return addresses

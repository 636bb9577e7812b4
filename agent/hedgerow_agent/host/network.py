"""Network interfaces and InfiniBand ports: bytes, errors, and links that go down under a running job."""

from hedgerow.gpu_faults import Rising
from hedgerow.gpu_reasons import LINK_DOWN, LINK_FLAPPING
from hedgerow.wire_agent import ACTION_INSPECT, DEGRADED, Finding, LinkReport
from hedgerow_agent.host.base import HostReading, names, text, whole

MAX_LINKS = 32
_NET = "/sys/class/net"
_INFINIBAND = "/sys/class/infiniband"
_WINDOW_SECONDS = 600.0
_IB_WORDS = 4  # port_rcv_data and port_xmit_data count in four octets (Documentation/ABI/stable/sysfs-class-infiniband)
_IB_ERRORS = ("symbol_error", "port_rcv_errors", "port_xmit_discards", "local_link_integrity_errors")


class Network:
    """Interfaces of hardware, and InfiniBand ports."""

    name = "network"

    def __init__(self) -> None:
        self._was_up: set[str] = set()
        self._downs: dict[str, Rising] = {}

    def sample(self, root: str, reading: HostReading) -> None:
        """Every port and every interface that is hardware; those of containers are not looked at."""
        ports = [
            _port(root, device, port)
            for device in names(root, _INFINIBAND)
            for port in names(root, f"{_INFINIBAND}/{device}/ports")
        ]
        cards = [_card(root, name) for name in names(root, _NET) if names(root, f"{_NET}/{name}/device")]
        reading.links = (ports + cards)[:MAX_LINKS]

    def judge(self, reading: HostReading, now: float) -> list[Finding]:
        """Links that were up and are down, or went down and came back lately."""
        found = []
        for link in reading.links:
            if link.up:
                self._was_up.add(link.name)
            elif link.up is False and link.name in self._was_up:
                words = f"{link.name} was up and is down"
                found.append(Finding(self.name, DEGRADED, LINK_DOWN, ACTION_INSPECT, words))
            rising = self._downs.setdefault(link.name, Rising(_WINDOW_SECONDS))
            downs = rising.rise(None if link.downs is None else float(link.downs), now)
            if link.up and downs > 0:
                words = f"{link.name} went down {downs:.0f} times lately"
                found.append(Finding(self.name, DEGRADED, LINK_FLAPPING, ACTION_INSPECT, words))
        return found


def _port(root: str, device: str, port: str) -> LinkReport:
    place = f"{_INFINIBAND}/{device}/ports/{port}"
    state, rate = text(root, f"{place}/state"), (text(root, f"{place}/rate") or "").split()
    received, sent = (whole(root, f"{place}/counters/port_{way}_data") for way in ("rcv", "xmit"))
    errors = [found for name in _IB_ERRORS if (found := whole(root, f"{place}/counters/{name}")) is not None]
    return LinkReport(
        name=f"{device}/{port}",
        kind="InfiniBand",
        up=None if state is None else "ACTIVE" in state,
        bytes_per_second=float(rate[0]) * 1e9 / 8 if rate and rate[0].replace(".", "", 1).isdigit() else None,
        received_bytes=None if received is None else received * _IB_WORDS,
        transmitted_bytes=None if sent is None else sent * _IB_WORDS,
        errors=sum(errors) if errors else None,
        downs=whole(root, f"{place}/counters/link_downed"),
    )


def _card(root: str, name: str) -> LinkReport:
    place = f"{_NET}/{name}"
    state, speed = (text(root, f"{place}/operstate") or "").strip(), whole(root, f"{place}/speed")
    errors = [whole(root, f"{place}/statistics/{way}_errors") for way in ("rx", "tx")]
    known = [count for count in errors if count is not None]
    return LinkReport(
        name=name,
        kind="Ethernet",
        up={"up": True, "down": False}.get(state),
        bytes_per_second=speed * 1e6 / 8 if speed is not None and speed > 0 else None,
        received_bytes=whole(root, f"{place}/statistics/rx_bytes"),
        transmitted_bytes=whole(root, f"{place}/statistics/tx_bytes"),
        errors=sum(known) if known else None,
        downs=whole(root, f"{place}/carrier_down_count"),
    )

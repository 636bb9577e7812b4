"""Command lines of the control plane and its small files. Pure: a Site in, words out."""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster.testbed.network import API_SERVICE, CONTROL_PLANE, PODS, SERVICES

SERVER = f"https://{CONTROL_PLANE}:6443"
ETCD = "http://127.0.0.1:2379"
ETCD_PEERS = "http://127.0.0.1:2380"
SERVER_NAMES = ",".join(
    (
        f"IP:{CONTROL_PLANE},IP:127.0.0.1,IP:{API_SERVICE}",
        "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local",
    )
)
# What a cloud would do, or what these nodes do not need.
CONTROLLERS = "*,-node-ipam-controller,-service-lb-controller,-node-route-controller,-cloud-node-lifecycle-controller"


@dataclass(frozen=True)
class Site:
    """Where one cluster lives: its work folder, the programs, and the folder of its certificates."""

    work: Path
    programs: Path
    certificates: Path
    cgroup: str  # as a path below every controller, /hedgerow-RUN

    def program(self, name: str) -> str:
        """The path of one program."""
        return str(self.programs / name)


def etcd(site: Site) -> list[str]:
    """The etcd command; nothing is synced to disk, because no test survives the machine."""
    urls = [f"--listen-client-urls={ETCD}", f"--advertise-client-urls={ETCD}", f"--listen-peer-urls={ETCD_PEERS}"]
    return [site.program("etcd"), f"--data-dir={site.work / 'etcd'}", "--unsafe-no-fsync", *urls]


def apiserver(site: Site) -> list[str]:
    """The kube-apiserver command."""
    keys = site.certificates
    return [
        site.program("kube-apiserver"),
        f"--etcd-servers={ETCD}",
        f"--advertise-address={CONTROL_PLANE}",
        f"--bind-address={CONTROL_PLANE}",
        "--secure-port=6443",
        f"--service-cluster-ip-range={SERVICES}",
        f"--cert-dir={site.work / 'apiserver'}",
        f"--tls-cert-file={keys / 'server.crt'}",
        f"--tls-private-key-file={keys / 'server.key'}",
        f"--client-ca-file={keys / 'ca.crt'}",
        f"--kubelet-client-certificate={keys / 'admin.crt'}",
        f"--kubelet-client-key={keys / 'admin.key'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-key-file={keys / 'service-accounts.key'}",
        f"--service-account-signing-key-file={keys / 'service-accounts.key'}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--profiling=false",
    ]


def controller_manager(site: Site, node_grace_seconds: int) -> list[str]:
    """The kube-controller-manager command; a silent node is noticed after `node_grace_seconds`."""
    keys = site.certificates
    return [
        site.program("kube-controller-manager"),
        *_kubeconfigs(keys / "controller-manager.kubeconfig"),
        f"--cert-dir={site.work / 'controller-manager'}",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={keys / 'service-accounts.key'}",
        f"--root-ca-file={keys / 'ca.crt'}",
        "--leader-elect=false",
        "--node-monitor-period=1s",
        f"--node-monitor-grace-period={node_grace_seconds}s",
        f"--controllers={CONTROLLERS}",
        "--kube-api-qps=200",
        "--kube-api-burst=300",
    ]


def scheduler(site: Site) -> list[str]:
    """The kube-scheduler command."""
    kubeconfigs = _kubeconfigs(site.certificates / "scheduler.kubeconfig")
    certificates = f"--cert-dir={site.work / 'scheduler'}"
    return [site.program("kube-scheduler"), *kubeconfigs, certificates, "--leader-elect=false"]


def proxy(site: Site, host: str) -> list[str]:
    """The kube-proxy command of one machine; `host` is its name in the cluster."""
    return [
        site.program("kube-proxy"),
        f"--kubeconfig={site.certificates / 'proxy.kubeconfig'}",
        f"--cluster-cidr={PODS}",
        f"--hostname-override={host}",
        "--conntrack-max-per-core=0",
        "--proxy-mode=iptables",
    ]


def dns(site: Site) -> list[str]:
    """The CoreDNS command."""
    return [site.program("coredns"), "-conf", str(site.work / "Corefile")]


def corefile(site: Site) -> str:
    """What CoreDNS reads: the names of the cluster, and no others, because there is no way out."""
    keys = site.certificates
    return f"""\
.:53 {{
  bind {CONTROL_PLANE}
  errors
  kubernetes cluster.local in-addr.arpa {{
    endpoint {SERVER}
    tls {keys / "admin.crt"} {keys / "admin.key"} {keys / "ca.crt"}
  }}
}}
"""


def _kubeconfigs(path: Path) -> list[str]:
    return [f"--{use}kubeconfig={path}" for use in ("", "authentication-", "authorization-")]

"""What a node reads: the settings of its containerd, its kubelet and its pod network. Pure."""

import json
from pathlib import Path

from tests.cluster.testbed.components import Site
from tests.cluster.testbed.network import CONTROL_PLANE, Cable

PAUSE_IMAGE = "localhost/pause:1"


def containerd(root: Path, socket: Path, networks: Path) -> str:
    """config.toml for a containerd that keeps images under `root` and everything else in the node's own /run.

    NRI is off because its socket is one per host; OOM scores are restricted because a test machine may lack
    CAP_SYS_RESOURCE.
    """
    return f"""\
version = 3
root = "{root}"
state = "/run/containerd"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.erofs", "io.containerd.snapshotter.v1.blockfile"]
[grpc]
address = "{socket}"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "{PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "{networks}"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
options = {{BinaryName = "/usr/sbin/runc", SystemdCgroup = false}}
"""


def pod_network(cable: Cable) -> str:
    """The CNI list. Each pod has a cable of its own to the node (ptp), so all of its traffic meets kube-proxy's rules;
    on a bridge, answers from a pod of the same node would pass them by."""
    addresses = {"type": "host-local", "subnet": cable.pods, "dataDir": "/run/pod-addresses"}
    plugin = {"type": "ptp", "ipMasq": False, "ipam": {**addresses, "routes": [{"dst": "0.0.0.0/0"}]}}
    return json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": [plugin]}, indent=1)


def kubelet(site: Site, cable: Cable, folder: Path, socket: Path) -> str:
    """KubeletConfiguration as JSON."""
    keys = site.certificates
    settings = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": cable.address,
        "authentication": {
            "anonymous": {"enabled": False},
            "x509": {"clientCAFile": str(keys / "ca.crt")},
            "webhook": {"enabled": True},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(keys / f"{cable.device}.crt"),
        "tlsPrivateKeyFile": str(keys / f"{cable.device}.key"),
        "healthzPort": 0,
        "containerRuntimeEndpoint": f"unix://{socket}",
        "podLogsDir": str(folder / "logs"),
        "volumePluginDir": str(folder / "volume-plugins"),
        "resolvConf": "",
        "clusterDNS": [CONTROL_PLANE],
        "clusterDomain": "cluster.local",
        # A machine of the test may have cgroup v1, swap, and little disk left: none of it is what is tested.
        "failCgroupV1": False,
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "evictionHard": {"memory.available": "50Mi"},
        "imageGCHighThresholdPercent": 100,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        # Quick signs of life, so that a dead node is noticed quickly.
        "nodeStatusUpdateFrequency": "2s",
        "nodeLeaseDurationSeconds": 8,
    }
    return json.dumps(settings, indent=1)

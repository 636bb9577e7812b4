"""The gateway that the chart runs: its storage, an endpoint of two simulated providers, and a client of its Service."""

import json
import urllib.error
import urllib.request
from typing import NamedTuple

from tests.cluster.scenario.manifests import Fields, as_text, volume
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster

NAME = f"{hedgerow.RELEASE}-gateway"
POD = f"{NAME}-0"
ENDPOINT = "speech"
PROVIDERS = ("cheap", "steady")
KEY = "key-of-a-client"
_KEYS = "speech-keys"
_CLAIM = f"journal-{POD}"
_RESTRICTED = "pod-security.kubernetes.io/enforce"
_API = "hedgerow.dev/v1alpha1"


class Answer(NamedTuple):
    """What a client got. status 0: nobody answered."""

    status: int
    provider: str
    body: str


class Gateway:
    """One gateway, in a namespace that enforces the restricted Pod Security Standard meanwhile."""

    def __init__(self, operator: InstalledOperator) -> None:
        self._operator = operator
        self.cluster: Cluster = operator.cluster

    def install(self) -> None:
        """It runs, and its journal has room."""
        folder = self.cluster.site.work / "volumes" / _CLAIM
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        room = volume(hedgerow.NAMESPACE, _CLAIM, str(folder))
        room["spec"]["accessModes"] = ["ReadWriteOnce"]
        self.cluster.kubectl("apply", "-f", "-", stdin=as_text(room))
        self.cluster.kubectl("label", "namespace", hedgerow.NAMESPACE, f"{_RESTRICTED}=restricted")
        self._operator.install("gateway.enabled=true")

    def remove(self) -> None:
        """As it was before."""
        self._operator.install()
        self.cluster.kubectl("label", "namespace", hedgerow.NAMESPACE, f"{_RESTRICTED}-")
        claim = ("-n", hedgerow.NAMESPACE, "persistentvolumeclaim", _CLAIM)
        self.cluster.kubectl("delete", *claim, "--ignore-not-found", "--wait=false")
        room = f"{hedgerow.NAMESPACE}-{_CLAIM}"
        self.cluster.kubectl("delete", "persistentvolume", room, "--ignore-not-found", "--wait=false")

    def apply_endpoint(self, namespace: str) -> None:
        """An endpoint that only holders of `KEY` may ask."""
        keys = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _KEYS}, "stringData": {"client": KEY}}
        spec = {
            "protocol": "Job",
            "providers": [{"name": name, "providerRef": {"name": name}} for name in PROVIDERS],
            "auth": {"apiKeySecretRef": {"name": _KEYS}},
        }
        endpoint = {"apiVersion": _API, "kind": "InferenceEndpoint", "metadata": {"name": ENDPOINT}, "spec": spec}
        objects = as_text(keys, endpoint, *(_provider(name) for name in PROVIDERS))
        self.cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=objects)

    def ask(self, namespace: str, key: str = KEY) -> Answer:
        """One job, through the Service."""
        service = self.cluster.api.get(f"/api/v1/namespaces/{hedgerow.NAMESPACE}/services/{NAME}")["spec"]
        url = f"http://{service['clusterIP']}:{service['ports'][0]['port']}/{namespace}/{ENDPOINT}/runsync"
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, b'{"input": {"text": "hello"}}', headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as response:
                return Answer(response.status, response.headers["X-Hedgerow-Provider"] or "", response.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, "", error.read().decode())
        except OSError as error:
            return Answer(0, "", str(error))

    def wait_answer(self, namespace: str) -> Answer:
        """The first answer that is one."""

        def answered(_: object) -> Answer | None:
            found = self.ask(namespace)
            return found if found.status == 200 else None

        found: Answer = self.cluster.wait_for("the gateway to answer", answered, 40)
        return found

    def status(self, namespace: str, plural: str = "inferenceendpoints", name: str = ENDPOINT) -> Fields:
        """As kubectl would show it."""
        found = self.cluster.api.get(f"/apis/{_API}/namespaces/{namespace}/{plural}/{name}")
        return dict(found.get("status") or {})

    def pod(self) -> Fields:
        """As it is now; empty while there is none."""
        return dict(self.cluster.api.get(f"/api/v1/namespaces/{hedgerow.NAMESPACE}/pods/{POD}") or {})


def _provider(name: str) -> Fields:
    section = {"timeScale": 100, "courses": [{"queueMillis": 1000, "runMillis": 4000}]}
    spec = {"type": "Simulated", "price": {"perSecondUSD": "0.000306"}, "simulated": section}
    return {"apiVersion": _API, "kind": "ServerlessProvider", "metadata": {"name": name}, "spec": spec}


def said(answer: Answer) -> Fields:
    """The body of an answer, read."""
    return dict(json.loads(answer.body))

"""A Service in the same cluster: asked like any HTTP server, by the address that the cluster's DNS gives it."""

from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup


class Kubernetes(PassThrough):
    """service: NAME or NAME.NAMESPACE; port: of the Service. What runs there is ours, so nothing is billed idle."""

    def __init__(
        self, setup: Setup, service: str, *, namespace: str = "default", port: int = 80, health_path: str = "/health"
    ) -> None:
        super().__init__(setup, f"http://{in_cluster(service, namespace)}:{port}", health_path=health_path)


def in_cluster(service: str, namespace: str) -> str:
    """The name of a Service as pods of any namespace find it."""
    name, _dot, other = service.partition(".")
    return f"{name}.{other or namespace}.svc"

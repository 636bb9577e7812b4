"""kopf's way to the API server: the same as everybody else's here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import kopf
from kubernetes.aio.client import Configuration


def make_login(configuration: Configuration) -> Callable[..., Awaitable[kopf.ConnectionInfo]]:
    """A login handler that reads the token anew each time kopf asks (it asks when one is refused)."""

    async def login(**_: Any) -> kopf.ConnectionInfo:
        token = await configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        scheme, _separator, secret = (token or "").rpartition(" ")
        return kopf.ConnectionInfo(
            server=configuration.host,
            ca_path=configuration.ssl_ca_cert,
            insecure=not configuration.verify_ssl,
            scheme=scheme.capitalize() or None,
            token=secret or None,
            certificate_path=configuration.cert_file,
            private_key_path=configuration.key_file,
            proxy_url=configuration.proxy,
        )

    return login

"""Proxy auth tokens of Modal (modal.com/docs/guide/webhook-proxy-auth)."""

from hedgerow_operator.adapters.providers.setup import Setup


def proxy_auth(setup: Setup) -> dict[str, str]:
    """The headers; none where the Secret has no token."""
    names = {"Modal-Key": "tokenId", "Modal-Secret": "tokenSecret"}
    return {header: setup.secrets[key] for header, key in names.items() if setup.secrets.get(key)}

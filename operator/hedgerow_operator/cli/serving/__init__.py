"""Endpoints of `hedgerow local`: a gateway on loopback."""

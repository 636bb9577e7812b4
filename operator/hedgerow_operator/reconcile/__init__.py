"""One level-triggered reconcile a kind: observe, decide, act, one status write, then events."""

"""The outside world, each part behind a Protocol that reconcile defines."""

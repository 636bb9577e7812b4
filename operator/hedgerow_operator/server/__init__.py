"""The HTTP server that launchers report to, with health and metrics beside it."""

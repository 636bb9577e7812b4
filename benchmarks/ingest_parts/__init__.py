"""Parts of the benchmark of the report server."""

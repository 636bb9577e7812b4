"""Ways to show a local run."""

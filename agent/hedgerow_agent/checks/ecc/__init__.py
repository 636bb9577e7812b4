"""Memory errors."""

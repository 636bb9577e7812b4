"""Modal: web functions with their chain of redirects, and functions behind our wrapper app."""

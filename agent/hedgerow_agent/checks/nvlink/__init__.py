"""NVLink: links, bytes and errors."""

"""Row remapping and page retirement."""

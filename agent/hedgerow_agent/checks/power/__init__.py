"""Power against its limit."""

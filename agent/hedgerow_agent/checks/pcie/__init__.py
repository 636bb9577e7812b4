"""PCIe: bytes, replays and the link."""

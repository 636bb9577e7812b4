"""When a request gets a second attempt, where, and which attempts are given up: pure decisions."""

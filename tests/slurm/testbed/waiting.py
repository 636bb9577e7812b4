"""Waiting is the same on either testbed."""

from tests.cluster.testbed.waiting import wait_for

__all__ = ["wait_for"]

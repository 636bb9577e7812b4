"""The one exception of the testbed; its text is a sentence for a person."""

from tests.cluster.testbed.errors import ClusterError as TestbedError

__all__ = ["TestbedError"]

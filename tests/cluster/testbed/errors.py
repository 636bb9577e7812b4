"""The one exception of the testbed; its text is a sentence for a person."""


class ClusterError(Exception):
    """Something about the cluster went wrong; `str()` of it is the whole message."""

    __test__ = False  # its other name in the testbed of Slurm looks like a test's

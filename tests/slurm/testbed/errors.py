"""The one exception of the testbed; its text is a sentence for a person."""


class TestbedError(Exception):
    """Something about the testbed went wrong; `str()` of it is the whole message."""

    __test__ = False

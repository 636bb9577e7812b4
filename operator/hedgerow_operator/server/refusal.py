"""Errors of the report server: a status, one sentence, and when to try again."""

import json


class Refusal(Exception):
    """An HTTP error with one sentence. retry_after: seconds, where trying again helps."""

    def __init__(self, status: int, sentence: str, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.retry_after = retry_after

    @property
    def body(self) -> bytes:
        """The sentence as JSON."""
        return json.dumps({"error": str(self)}).encode()

"""What a user can put right."""


class StateError(Exception):
    """The state directory cannot be used as it is. The message is one sentence: what is wrong, where, what to do."""

"""What a policy asks for, and what a policy is."""

from typing import Protocol

from msgspec import Struct

from hedgerow_operator.core.hedging.seen import Situation


class Decision(Struct, frozen=True, kw_only=True):
    """launch: providers, each for one attempt more. cancel: providers whose live attempts are given up.

    again_at: when to look again though nothing has changed, in seconds since the request began; None: only then.
    """

    launch: tuple[str, ...] = ()
    cancel: tuple[str, ...] = ()
    again_at: float | None = None


class Policy(Protocol):
    """Asked at the beginning of a request, at every change of an attempt, and when it has asked to be."""

    def decide(self, situation: Situation) -> Decision:
        """What to do now. Asked again at once in the same situation after it was done, it asks for nothing more."""


NOTHING = Decision()


def first(situation: Situation) -> Decision | None:
    """The first attempt of a request that has none yet, at the provider that is preferred; None: there are attempts."""
    if situation.attempts:
        return None
    return Decision(launch=tuple(provider.name for provider in situation.untried[:1]))


def next_provider(situation: Situation) -> tuple[str, ...]:
    """The next provider, where one more attempt may live beside those that do."""
    if len(situation.live) >= situation.max_live or not situation.may_hedge:
        return ()
    return tuple(provider.name for provider in situation.untried[:1])


def all_in_vain(situation: Situation) -> bool:
    """Whether nothing that was started will answer."""
    return bool(situation.attempts) and all(attempt.in_vain for attempt in situation.attempts)

"""A question answered, by whichever process: the look is made once for each check."""

import functools
from collections.abc import Callable

import msgspec

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.core.hedging.validation.judge import Look, looking_for
from hedgerow_operator.core.hedging.validation.seen import Fault, FetchFirst, SeenAnswer
from hedgerow_operator.gateway.validators.asked import Finding
from hedgerow_operator.gateway.validators.plugin import plugin_look


def look_of(check: AnswerCheck) -> Look:
    """Raises ValueError with a sentence."""
    return plugin_look(check) if check.type == "Plugin" else looking_for(check)


@functools.lru_cache(maxsize=256)
def look_of_json(check: bytes) -> Look:
    """As written in JSON."""
    return look_of(msgspec.json.decode(check, type=AnswerCheck))


def found(look: Callable[[SeenAnswer], None], seen: SeenAnswer) -> Finding:
    """What the look comes to. Never raises: what breaks a check does not pass it."""
    try:
        look(seen)
    except Fault as fault:
        return Finding(fault=str(fault))
    except FetchFirst as first:
        return Finding(fetch=first.url)
    except MemoryError:
        return Finding(fault="the answer needs too much memory to be checked")
    except Exception as error:  # noqa: BLE001
        return Finding(fault=f"the answer cannot be checked ({type(error).__name__})")
    return Finding()

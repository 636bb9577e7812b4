"""Where something stands in an answer: a dotted path such as data.0.id, or JMESPath."""

import re
from collections.abc import Callable
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

Pick = Callable[[Any], Any]

# What is both means the same, but this one also takes names with a hyphen, and indexes.
_DOTTED = re.compile(r"[\w-]+(\.[\w-]+)*")


def picking(path: str) -> Pick:
    """Finds it; empty: the whole, nothing there: None. Raises ValueError in a sentence where the path is none."""
    if not path:
        return lambda whole: whole
    if _DOTTED.fullmatch(path):
        return lambda whole: _walked(whole, path.split("."))
    try:
        expression = jmespath.compile(path)
    except JMESPathError as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path!r} is neither a dotted path nor JMESPath ({why}); write for example data.id") from None
    return lambda whole: _searched(expression, whole)


def _walked(whole: Any, names: list[str]) -> Any:
    for name in names:
        if isinstance(whole, dict):
            whole = whole.get(name)
        elif isinstance(whole, list) and name.isdigit() and int(name) < len(whole):
            whole = whole[int(name)]
        else:
            return None
    return whole


def _searched(expression: Any, whole: Any) -> Any:
    try:
        return expression.search(whole)
    except (JMESPathError, RecursionError):
        # Functions refuse values of other types: then it is not there.
        return None

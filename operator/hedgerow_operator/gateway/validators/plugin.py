"""Checks that others have written: entry points of the group ``hedgerow.validators``."""

import functools
from importlib.metadata import entry_points

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.core.hedging.validation.judge import Look
from hedgerow_operator.core.hedging.validation.seen import Fault, SeenAnswer
from hedgerow_operator.gateway.validators.asked import PluginAnswer

GROUP = "hedgerow.validators"


def plugin_look(check: AnswerCheck) -> Look:
    """Raises ValueError with a sentence when there is no such plugin. It is loaded where it is first asked, never
    in the gateway itself.
    """
    found = [point for point in entry_points(group=GROUP) if point.name == check.plugin]
    if not found:
        known = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
        raise ValueError(f"there is no entry point {check.plugin!r} in the group {GROUP}; installed: {known}")
    load = functools.cache(found[0].load)

    def look(seen: SeenAnswer) -> None:
        body = seen.body if seen.fetched is None else seen.fetched
        answer = PluginAnswer(content_type=seen.content_type, body=body, output=seen.output)
        try:
            function = load()
        except Exception as error:  # noqa: BLE001 - whatever their module does when it is imported
            raise Fault(f"the plugin {check.plugin} cannot be loaded ({type(error).__name__})") from None
        why = function(answer, dict(check.options or {}))
        if why:
            raise Fault(str(why)[:500])

    return look

"""What the manifest of a type HTTP declares, as its adapter reads it."""

from collections.abc import Mapping

from hedgerow_operator.adapters.providers.declared.declaration import Declaration, DeclaredCall
from hedgerow_operator.api.provider_types import HTTPSection, StatusCall, SubmitCall
from hedgerow_operator.core.hedging.seen import AttemptState

_BEARER = {"Authorization": "Bearer ${apiKey}"}


def declaration_of(section: HTTPSection, endpoint: str, secrets: Mapping[str, str]) -> Declaration:
    """endpoint: address that the paths are below. secrets: only whether there is an apiKey is looked at."""
    submit, status = section.submit or SubmitCall(path="/"), section.status
    told = status or StatusCall(path="/{id}")
    result, cancel = section.result, section.cancel
    return Declaration(
        submit=DeclaredCall(url=endpoint + submit.path, method=submit.method),
        job=submit.id,
        status=None if status is None else DeclaredCall(url=endpoint + status.path, method=status.method),
        state=told.state,
        states={theirs: AttemptState(ours) for theirs, ours in (section.states or {}).items()},
        result=None if result is None else DeclaredCall(url=endpoint + result.path, method=result.method),
        output=section.output or "",
        error=told.error,
        cancel=None if cancel is None else DeclaredCall(url=endpoint + cancel.path, method=cancel.method),
        health=None if section.health_path is None else DeclaredCall(url=endpoint + section.health_path),
        headers=section.headers if section.headers is not None else _BEARER if "apiKey" in secrets else {},
        ends_when_acknowledged=cancel is not None and cancel.ends,
        free_in_queue=bool(section.free_in_queue),
        poll_seconds=None if section.poll_millis is None else section.poll_millis / 1000,
    )

"""Whatever JSON a provider answers, an adapter makes of it what it knows, or a ProviderError."""

import asyncio
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from hedgerow_operator.adapters.providers.cerebrium.runs import Runs
from hedgerow_operator.adapters.providers.connection import Connection
from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.adapters.providers.declared.declaration import Declaration, DeclaredCall
from hedgerow_operator.adapters.providers.declared.jobs import DeclaredJobs
from hedgerow_operator.adapters.providers.job_api import JobApi, Look, Taken
from hedgerow_operator.adapters.providers.lambda_pool.machines import Machines, Pool
from hedgerow_operator.adapters.providers.runpod.jobs import RunPodJobs
from hedgerow_operator.adapters.providers.runpod.management import Management
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply, refused
from hedgerow_operator.adapters.providers.vast.route import Routed, routed
from hedgerow_operator.adapters.providers.wrapped import WrappedJobs
from hedgerow_operator.core.hedging.seen import AttemptState

_SETUP = Setup(name="any")
# Names and words that the adapters look for, so that more than the outermost branch is met.
_NAMES = ["id", "status", "state", "output", "error", "call_id", "delayTime", "executionTime", "data", "url", "items"]
_WORDS = ["COMPLETED", "IN_QUEUE", "FAILED", "done", "running", "failed", "active", "http://[", "http://x", "any"]
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=9)
    | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=12,
)


class Answers(Connection):
    """A connection at whose other end is always the same answer."""

    def __init__(self, said: Any) -> None:
        super().__init__(_SETUP)
        self._reply = Reply(status=200, headers=CIMultiDict(), body=msgspec.json.encode(said))

    async def ask(self, *_what: Any, **_more: Any) -> Reply:
        return self._reply


_DECLARED = Declaration(
    submit=DeclaredCall(url="https://x"),
    status=DeclaredCall(url="https://x/{id}"),
    states={"COMPLETED": AttemptState.VALID, "FAILED": AttemptState.FAILED},
    output="output[0].id",
)

APIS = {
    "RunPod": lambda said: RunPodJobs(_SETUP, "https://x", Answers(said)),
    "our wrapper": lambda said: WrappedJobs(_SETUP, "https://x", Answers(said), ends_when_acknowledged=False),
    "a declared API": lambda said: DeclaredJobs(_SETUP, _DECLARED, Answers(said)),
}


async def _or_error(asked: Any) -> Any:
    try:
        return await asked
    except ProviderError as error:
        return error


@pytest.mark.parametrize("name", APIS)
@given(said=_JSON)
def test_a_job_is_begun_and_looked_at_or_there_is_a_provider_error(name: str, said: Any) -> None:
    api = cast("JobApi", APIS[name](said))
    begun = asyncio.run(_or_error(api.begin(Call())))
    assert isinstance(begun, Taken | ProviderError)
    assert isinstance(begun, ProviderError) or begun.job_id
    assert isinstance(asyncio.run(_or_error(api.look("job"))), Look | ProviderError)


@given(said=_JSON)
def test_so_are_routes_machines_workers_and_runs(said: Any) -> None:
    pool = Pool(name="any", instance_type="t", region="r", ssh_key="k")
    assert isinstance(asyncio.run(_or_error(routed(Answers(said), "https://x", "ep", 1.0))), Routed | ProviderError)
    machines = asyncio.run(_or_error(Machines(_SETUP, pool, "https://x", Answers(said)).list()))
    assert isinstance(machines, tuple | ProviderError)
    workers = asyncio.run(_or_error(Management(_SETUP, "ep", "https://x", Answers(said)).workers()))
    assert not isinstance(workers, Exception) or isinstance(workers, ProviderError)
    assert isinstance(asyncio.run(_or_error(Runs("https://x", Answers(said)).open())), tuple | ProviderError)


@given(said=_JSON, status=st.integers(400, 599))
def test_so_is_every_refusal(said: Any, status: int) -> None:
    error = refused("it", Reply(status=status, headers=CIMultiDict(), body=msgspec.json.encode(said)))
    assert len(str(error)) < 300
    assert "\n" not in str(error)

"""Providers that others have written."""

import time
from typing import Any

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.plugin import Plugin, loaded
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended
from tests.gateway.rigs import JOB, setup_of


class Plain:
    """Without coroutines, as a first try would be written."""

    def __init__(self, options: dict[str, str], secrets: dict[str, str]) -> None:
        self.options, self.secrets = options, secrets
        self.looks = 0

    def submit(self, request: Any) -> str:
        return f"job for {request['prompt']}"

    def status(self, job: str) -> str:
        self.looks += 1
        return ("Queued", "Running", "Valid")[min(self.looks, 3) - 1]

    def result(self, job: str) -> Any:
        return {"of": job, "by": self.options["model"]}

    def cancel(self, job: str) -> None:
        time.sleep(0)


async def test_a_class_of_four_plain_methods_is_a_provider() -> None:
    provider = Plugin(setup_of("mine"), "mine", {"model": "m"}, kind=Plain)
    updates = await ended(await provider.submit(JOB))
    assert [update.state for update in updates] == [AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.VALID]
    answer = updates[-1].answer
    assert answer is not None
    assert answer.output == {"of": "job for hello", "by": "m"}


async def test_a_method_that_hangs_fails_the_attempt_in_its_time() -> None:
    class Hangs(Plain):
        def submit(self, request: Any) -> str:
            time.sleep(0.3)
            return "late"

    provider = Plugin(replace(setup_of("mine"), scale=0.001), "mine", {}, kind=Hangs)
    with pytest.raises(ProviderError, match="submit of the plugin mine took longer than it may"):
        await provider.submit(JOB)


@pytest.mark.parametrize("job", [None, "", 7, b"x"])
async def test_a_submit_that_gives_no_id_is_a_failure(job: Any) -> None:
    class NoId(Plain):
        def submit(self, request: Any) -> Any:
            return job

    provider = Plugin(setup_of("mine"), "mine", {}, kind=NoId)
    with pytest.raises(ProviderError, match="gave no id"):
        await provider.submit(JOB)


async def test_a_status_that_is_no_state_ends_in_a_failure_that_names_it() -> None:
    class Odd(Plain):
        def status(self, job: str) -> Any:
            return ["Valid"]

    update = (await ended(await Plugin(setup_of("mine"), "mine", {}, kind=Odd).submit(JOB)))[-1]
    assert update.error is not None
    assert "which is no state" in str(update.error)


def test_a_class_that_lacks_methods_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="'mine' has no submit and no status and no result and no cancel"):
        Plugin(setup_of("mine"), "mine", {}, kind=object)


def test_a_class_that_cannot_be_made_is_refused_without_its_secrets() -> None:
    class Fails(Plain):
        def __init__(self, options: dict[str, str], secrets: dict[str, str]) -> None:
            raise RuntimeError(f"I do not like {secrets['apiKey']}")

    with pytest.raises(ValueError, match="cannot begin") as caught:
        Plugin(setup_of("mine"), "mine", {}, kind=Fails)
    assert "secret" not in str(caught.value)


def test_a_plugin_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no provider plugin is called 'absent' here"):
        loaded("absent")

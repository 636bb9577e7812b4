"""Reports that wait to be read: of each sender the newest, whoever comes in what order."""

import asyncio

import pytest

from hedgerow_operator.server.asked import Asked
from hedgerow_operator.server.backlog import Backlog, Entry
from hedgerow_operator.server.limits import SenderLimits
from hedgerow_operator.server.refusal import Refusal


class Clerk:
    """Reads entries, and remembers who was answered what."""

    def __init__(self, most_bytes: int = 1000) -> None:
        self.now = 0.0
        self.backlog = Backlog(most_bytes, clock=lambda: self.now)
        self.read: list[bytes] = []
        self.refused: dict[bytes, int] = {}

    def add(self, sender: str, number: int, size: int = 10, maker: str = "first") -> None:
        body = f"{sender}{number}".encode().ljust(size)

        def reply(what: bytes | Refusal) -> None:
            assert isinstance(what, Refusal)
            assert what.retry_after
            self.refused[body.strip()] = what.status

        self.backlog.add(sender, Entry(Asked(reply), body, self._read, maker, number))

    def _read(self, asked: Asked, body: bytes) -> None:
        self.read.append(body.strip())
        self.now += 0.006

    async def done(self) -> list[bytes]:
        async with asyncio.timeout(60):
            while len(self.backlog):
                await asyncio.sleep(0)
        return self.read


async def test_what_came_alone_is_read_in_its_turn() -> None:
    clerk = Clerk()
    for sender in "abc":
        clerk.add(sender, 1)
    assert await clerk.done() == [b"a1", b"b1", b"c1"]


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1)])
async def test_the_newest_of_everybody_is_read_before_anything_older(numbers: tuple[int, int]) -> None:
    clerk = Clerk()
    for number in numbers:
        clerk.add("a", number)
        clerk.add("b", number)
    assert await clerk.done() == [b"a2", b"b2", b"a1", b"b1"]


async def test_a_third_report_of_a_sender_has_the_oldest_given_up_and_never_the_newest() -> None:
    clerk = Clerk()
    for number in (2, 3, 1, 5, 4):
        clerk.add("a", number)
    assert await clerk.done() == [b"a5", b"a4"]
    assert clerk.refused == {b"a1": 503, b"a2": 503, b"a3": 503}
    assert clerk.backlog.shed == 3


async def test_a_launcher_that_was_begun_anew_is_newer_than_the_one_before_it() -> None:
    clerk = Clerk()
    clerk.add("a", 70)
    clerk.add("a", 1, maker="second")
    assert await clerk.done() == [b"a1", b"a70"]


async def test_where_there_is_no_room_older_reports_make_it_and_else_the_sender_is_asked_to_come_back() -> None:
    clerk = Clerk(most_bytes=100)
    clerk.add("a", 1, size=40)
    clerk.add("a", 2, size=40)
    clerk.add("b", 1, size=50)
    assert clerk.refused == {b"a1": 503}
    with pytest.raises(Refusal) as refused:
        clerk.add("c", 1, size=50)
    assert (refused.value.status, refused.value.retry_after) == (503, 1)
    assert await clerk.done() == [b"a2", b"b1"]
    clerk.add("c", 1, size=100)
    assert b"c1" in await clerk.done()


async def test_others_get_a_turn_while_much_waits() -> None:
    clerk = Clerk(most_bytes=10_000)
    for number in range(100):
        clerk.add(f"sender-{number}", 1)
    await asyncio.sleep(0)
    assert 0 < len(clerk.read) < 100
    assert len(await clerk.done()) == 100


def test_a_sender_may_report_ten_times_a_second_and_more_only_for_a_while() -> None:
    now = 100.0
    limits = SenderLimits(lambda: now)
    waits = [limits.wait_seconds("a") for _ in range(25)]
    assert waits.count(0.0) == 20
    assert 0.0 < max(waits) <= 1.0
    assert limits.wait_seconds("b") == 0.0
    now += 1.0
    assert [limits.wait_seconds("a") for _ in range(11)].count(0.0) == 10


def test_senders_that_are_gone_are_not_remembered() -> None:
    now = 0.0
    limits = SenderLimits(lambda: now)
    for second in range(1000):
        now = float(second)
        for number in range(10):
            limits.wait_seconds((second, number))
    assert len(limits) <= 10 * 32

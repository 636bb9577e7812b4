"""One budget over several gateways: what they may spend together is never above the whole, whatever is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hedgerow_operator.core.hedging.budget import Budget, Hold, Limits
from hedgerow_operator.core.hedging.charges import Charge
from hedgerow_operator.core.hedging.leases import Asked, Book, gone, grant
from hedgerow_operator.core.hedging.spent import HOUR

NONE = Limits(0, 0)


def asked(name: str, lease: Limits = NONE, used: Limits = NONE) -> Asked:
    return Asked(gateway=name, lease=lease, used=used)


def test_a_gateway_alone_gets_the_whole() -> None:
    _book, lease = grant(Book(whole=Limits(100, 1000)), asked("a"), ["a"], 0.0)
    assert lease == Limits(100, 1000)


def test_a_window_without_a_limit_has_none_in_the_lease() -> None:
    _book, lease = grant(Book(whole=Limits(100)), asked("a"), ["a"], 0.0)
    assert lease == Limits(100, None)


def test_a_second_gateway_gets_its_part_only_when_the_first_has_given_it_back() -> None:
    book, whole = grant(Book(whole=Limits(100)), asked("a"), ["a"], 0.0)
    book, nothing = grant(book, asked("b"), ["a", "b"], 1.0)
    assert nothing.hourly == 0
    book, half = grant(book, asked("a", whole), ["a", "b"], 2.0)
    assert half.hourly == 50
    book, still_nothing = grant(book, asked("b"), ["a", "b"], 3.0)
    assert still_nothing.hourly == 0
    book, half = grant(book, asked("a", half), ["a", "b"], 4.0)
    _book, other = grant(book, asked("b"), ["a", "b"], 5.0)
    assert other.hourly == 50


def test_what_was_spent_already_is_not_given_to_another() -> None:
    book, whole = grant(Book(whole=Limits(100)), asked("a"), ["a"], 0.0)
    book, _ = grant(book, asked("b"), ["a", "b"], 1.0)
    book, less = grant(book, asked("a", whole, Limits(80, 80)), ["a", "b"], 2.0)
    book, less = grant(book, asked("a", less, Limits(80, 80)), ["a", "b"], 3.0)
    _book, other = grant(book, asked("b"), ["a", "b"], 4.0)
    assert (other.hourly or 0) <= 20


def test_who_grants_anew_gives_nothing_more_before_all_that_run_have_spoken() -> None:
    book, lease = grant(Book(whole=Limits(100)), asked("a", Limits(60)), ["a", "b"], 0.0)
    assert lease.hourly == 60
    book, lease = grant(book, asked("b", Limits(40)), ["a", "b"], 1.0)
    assert lease.hourly == 40


def test_what_a_lost_gateway_had_comes_back_once_it_is_out_of_the_window() -> None:
    book, _ = grant(Book(whole=Limits(100)), asked("a"), ["a"], 0.0)
    book = gone(book, "a", 10.0)
    book, early = grant(book, asked("b"), ["b"], HOUR)
    assert early.hourly == 0
    _book, late = grant(book, asked("b"), ["b"], 3 * HOUR)
    assert late.hourly == 100


def test_a_lease_stays_as_it_is_while_needs_differ_little() -> None:
    book, leases = Book(whole=Limits(1000)), {"a": NONE, "b": NONE}
    for used in (100, 100, 100, 104, 97, 110, 90):
        for name in leases:
            word = asked(name, leases[name], Limits(used if name == "a" else 100, 0))
            book, leases[name] = grant(book, word, ["a", "b"], 0.0)
        if used == 104:
            before = leases.copy()
    assert leases == before == {"a": Limits(500, None), "b": Limits(500, None)}


def test_a_gateway_that_wakes_up_is_given_its_part_however_small() -> None:
    book, lease = grant(Book(whole=Limits(1000)), asked("a"), ["a"], 0.0)
    book, _ = grant(book, asked("b"), ["a", "b"], 1.0)
    book, lease = grant(book, asked("a", lease, Limits(900, 0)), ["a", "b"], 2.0)
    book, lease = grant(book, asked("a", lease, Limits(900, 0)), ["a", "b"], 3.0)
    _book, small = grant(book, asked("b"), ["a", "b"], 4.0)
    assert small.hourly == 50


moves = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["speak", "speak", "answer lost", "spend", "settle", "die"]),
        st.integers(1, 40),
        st.floats(0, 1200),
    ),
    max_size=150,
)


@settings(max_examples=200, deadline=None)
@given(moves, st.integers(0, 200))
def test_all_gateways_together_never_use_more_than_the_whole(
    steps: list[tuple[str, str, int, float]], whole: int
) -> None:
    book, now = Book(whole=Limits(whole)), 0.0
    gateways = {name: Budget(NONE) for name in "abc"}
    held: list[tuple[str, Hold]] = []
    dead: set[str] = set()
    for name, what, amount, passed in steps:
        now += passed
        budget = gateways[name]
        if name in dead:
            continue
        if what in ("speak", "answer lost"):
            word = Asked(gateway=name, lease=budget.limits, used=budget.used(now))
            book, lease = grant(book, word, set(gateways) - dead, now)
            if what == "speak":
                budget.limits = replace(lease, daily=None)
        elif what == "spend" and budget.reserve(Hold("p", amount), now):
            held.append((name, Hold("p", amount)))
        elif what == "settle" and held:
            owner, hold = held.pop(0)
            gateways[owner].settle(hold, Charge(hold.amount), now)
        elif what == "die":
            dead.add(name)
            book = gone(book, name, now)
        together = sum(each.used(now).hourly or 0 for each in gateways.values())
        assert together <= whole
